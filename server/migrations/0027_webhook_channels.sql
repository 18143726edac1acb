-- Events go to receivers of the tenant's own too: what signs them, and what else is secret in them, is sealed.
alter table notification_channel
  drop constraint notification_channel_channel_type_ck,
  add constraint notification_channel_channel_type_ck check (channel_type in ('email', 'webhook')),
  add column sealed_secrets text,
  -- Until then the secret before the last rotation signs beside the new one.
  add column previous_until timestamptz,
  add constraint notification_channel_sealed_secrets_ck check ((channel_type = 'webhook') = (sealed_secrets is not null));
grant update (sealed_secrets, previous_until) on notification_channel to sallyport_app;

-- How the holders of an entitlement's grants connect, without secrets: from the plan, or from what the target answered. Null: not
-- known, as for everything that was planned before.
alter table entitlement
  add column connect jsonb,
  add constraint entitlement_connect_ck check (jsonb_typeof(connect) = 'object' and octet_length(connect::text) <= 16384);

-- The same as a receiver reported it with the outcome of an act, as JSON. It is untrusted, and read before it is shown.
alter table webhook_act
  add column connect text,
  add constraint webhook_act_connect_ck check (char_length(connect) <= 8000);
grant update (connect) on webhook_act to sallyport_app;

-- Invitations: a link by which a person becomes a user who was made for them, once. The tables hold only hashes of the links' secrets: one
-- of the link that the inviter gets, and one of the link that is mailed, whose use proves the address.
-- vouched_scopes: what the user held, and the inviter too, when the link was made. A user who holds more by now needs another link.
create table invitation (
  tenant_id uuid not null constraint invitation_tenant_id_fk references tenant (id),
  id uuid not null,
  user_id uuid not null,
  secret_hash bytea not null constraint invitation_secret_hash_ck check (octet_length(secret_hash) = 32),
  mail_secret_hash bytea constraint invitation_mail_secret_hash_ck check (octet_length(mail_secret_hash) = 32),
  vouched_scopes text[] not null,
  -- Null: the operator.
  created_by uuid,
  created_at timestamptz not null default clock_timestamp(),
  expires_at timestamptz not null default clock_timestamp() + interval '72 hours',
  ended_as text constraint invitation_ended_as_ck check (ended_as in ('used', 'revoked', 'replaced', 'expired')),
  ended_at timestamptz,
  constraint invitation_pk primary key (tenant_id, id),
  constraint invitation_ended_ck check ((ended_as is null) = (ended_at is null)),
  constraint invitation_user_id_fk foreign key (tenant_id, user_id) references tenant_user (tenant_id, id)
);
create index invitation_user_id_ix on invitation (tenant_id, user_id, id);
create unique index invitation_live_uq on invitation (tenant_id, user_id) where ended_at is null;
alter table invitation enable row level security;
alter table invitation force row level security;
create policy tenant_wall on invitation
  using (tenant_id = nullif(current_setting('app.tenant_id', true), '')::uuid)
  with check (tenant_id = nullif(current_setting('app.tenant_id', true), '')::uuid);
grant select, insert, delete, update (ended_as, ended_at) on invitation to sallyport_app;

-- The mail of an invitation, its own work list. The secret of its link is there, sealed, only until the mail is sent or given up.
create table invitation_mail (
  tenant_id uuid not null constraint invitation_mail_tenant_id_fk references tenant (id),
  id uuid not null,
  -- The address as it is compared: mails to one address are counted.
  email_key text not null,
  state text not null constraint invitation_mail_state_ck check (state in ('pending', 'sent', 'failed')),
  sealed_secrets text,
  attempts integer not null default 0 constraint invitation_mail_attempts_ck check (attempts >= 0),
  last_error text,
  created_at timestamptz not null default clock_timestamp(),
  sent_at timestamptz,
  next_look_at timestamptz,
  lease_until timestamptz,
  generation bigint not null default 0,
  constraint invitation_mail_pk primary key (tenant_id, id),
  constraint invitation_mail_waits_ck check (
    (state = 'pending') = (sealed_secrets is not null) and (state = 'pending') = (next_look_at is not null)),
  constraint invitation_mail_sent_ck check ((state = 'sent') = (sent_at is not null)),
  constraint invitation_mail_id_fk foreign key (tenant_id, id) references invitation (tenant_id, id)
);
create index invitation_mail_due_ix on invitation_mail (next_look_at) where next_look_at is not null;
create index invitation_mail_created_ix on invitation_mail (tenant_id, created_at);
create index invitation_mail_address_ix on invitation_mail (tenant_id, email_key, created_at);
alter table invitation_mail enable row level security;
alter table invitation_mail force row level security;
create policy tenant_wall on invitation_mail
  using (tenant_id = nullif(current_setting('app.tenant_id', true), '')::uuid)
  with check (tenant_id = nullif(current_setting('app.tenant_id', true), '')::uuid);
grant select, insert, update, delete on invitation_mail to sallyport_app;
create policy invitation_mail_work on invitation_mail to sallyport_work using (true) with check (true);
grant select (tenant_id, id, next_look_at, lease_until, generation) on invitation_mail to sallyport_work;
grant update (lease_until, generation) on invitation_mail to sallyport_work;

-- What a local user proves beside the password. A factor counts once it is confirmed. Ones that nobody confirmed are deleted later.
create table second_factor (
  tenant_id uuid not null,
  id uuid not null,
  user_id uuid not null,
  kind text not null constraint second_factor_kind_ck check (kind in ('totp', 'passkey')),
  name text not null constraint second_factor_name_ck check (char_length(name) between 1 and 200),
  created_at timestamptz not null default clock_timestamp(),
  confirmed_at timestamptz,
  last_used_at timestamptz,
  -- Of an app with codes: its secret, and the last 30 seconds whose code was used, since no code counts twice.
  sealed_secrets text,
  last_step bigint,
  -- Of a passkey: what its authenticator is asked to sign before it is confirmed, then its key.
  challenge text,
  credential_id text,
  public_key bytea,
  sign_count bigint,
  synced boolean,
  transports text[] not null default '{}',
  constraint second_factor_pk primary key (tenant_id, id),
  constraint second_factor_tenant_id_user_id_fk foreign key (tenant_id, user_id) references tenant_user (tenant_id, id),
  constraint second_factor_tenant_id_credential_id_uq unique (tenant_id, credential_id),
  constraint second_factor_totp_ck check (kind <> 'totp' or sealed_secrets is not null),
  constraint second_factor_passkey_ck check (kind <> 'passkey' or confirmed_at is null
    or (credential_id is not null and public_key is not null and sign_count is not null and synced is not null))
);
create index second_factor_user_ix on second_factor (tenant_id, user_id);
alter table second_factor enable row level security;
alter table second_factor force row level security;
create policy tenant_wall on second_factor
  using (tenant_id = nullif(current_setting('app.tenant_id', true), '')::uuid)
  with check (tenant_id = nullif(current_setting('app.tenant_id', true), '')::uuid);
grant select, insert, delete, update (confirmed_at, last_used_at, sealed_secrets, last_step, challenge, credential_id, public_key,
  sign_count, synced, transports) on second_factor to sallyport_app;

-- Codes for a user who has lost the other factors, each for once. Only their hashes are here.
create table recovery_code (
  tenant_id uuid not null,
  user_id uuid not null,
  hash bytea not null constraint recovery_code_hash_ck check (octet_length(hash) = 32),
  constraint recovery_code_pk primary key (tenant_id, user_id, hash),
  constraint recovery_code_tenant_id_user_id_fk foreign key (tenant_id, user_id) references tenant_user (tenant_id, id)
);
alter table recovery_code enable row level security;
alter table recovery_code force row level security;
create policy tenant_wall on recovery_code
  using (tenant_id = nullif(current_setting('app.tenant_id', true), '')::uuid)
  with check (tenant_id = nullif(current_setting('app.tenant_id', true), '')::uuid);
grant select, insert, delete on recovery_code to sallyport_app;

-- A sign-in whose password was right, and which waits for the second factor.
create table sign_in_challenge (
  tenant_id uuid not null,
  id uuid not null,
  user_id uuid not null,
  secret_hash bytea not null constraint sign_in_challenge_secret_hash_ck check (octet_length(secret_hash) = 32),
  -- What a passkey is asked to sign.
  passkey_challenge text,
  tries integer not null default 0,
  expires_at timestamptz not null default clock_timestamp() + interval '5 minutes',
  constraint sign_in_challenge_pk primary key (tenant_id, id),
  constraint sign_in_challenge_tenant_id_user_id_fk foreign key (tenant_id, user_id) references tenant_user (tenant_id, id)
);
create index sign_in_challenge_user_ix on sign_in_challenge (tenant_id, user_id);
create index sign_in_challenge_expires_ix on sign_in_challenge (tenant_id, expires_at);
alter table sign_in_challenge enable row level security;
alter table sign_in_challenge force row level security;
create policy tenant_wall on sign_in_challenge
  using (tenant_id = nullif(current_setting('app.tenant_id', true), '')::uuid)
  with check (tenant_id = nullif(current_setting('app.tenant_id', true), '')::uuid);
grant select, insert, delete, update (tries) on sign_in_challenge to sallyport_app;

-- A factor that is confirmed or removed changes what a session may do.
create trigger second_factor_authority after update on second_factor for each row
  when (old.confirmed_at is distinct from new.confirmed_at)
  execute function authority_changed();
create trigger second_factor_gone after delete on second_factor for each row
  when (old.confirmed_at is not null)
  execute function authority_changed();

-- Tenants of before keep the length that they had by default.
alter table setting no force row level security;
alter table tenant no force row level security;
insert into setting (tenant_id, key, value)
  select id, 'auth.password_min_length', '8' from tenant
  on conflict do nothing;
alter table tenant force row level security;
alter table setting force row level security;

-- Who people are, what they hold, and the keys that speak for them.
create table tenant_user (
  tenant_id uuid not null constraint tenant_user_tenant_id_fk references tenant (id),
  id uuid not null,
  email text not null constraint tenant_user_email_ck check (char_length(email) between 3 and 254),
  -- The address as it is compared: NFKC, lower case. Kept beside it, since only a bare column reaches an index under row security.
  email_key text not null,
  name text not null constraint tenant_user_name_ck check (char_length(name) between 1 and 200),
  auth_provider text not null constraint tenant_user_auth_provider_ck check (auth_provider in ('local', 'oidc', 'saml')),
  active boolean not null default true,
  email_verified boolean not null default false,
  is_owner boolean not null default false,
  avatar_base64 text,
  created_at timestamptz not null default clock_timestamp(),
  updated_at timestamptz not null default clock_timestamp(),
  constraint tenant_user_pk primary key (tenant_id, id),
  constraint tenant_user_email_key_uq unique (tenant_id, email_key)
);
alter table tenant_user enable row level security;
alter table tenant_user force row level security;
create policy tenant_wall on tenant_user
  using (tenant_id = nullif(current_setting('app.tenant_id', true), '')::uuid)
  with check (tenant_id = nullif(current_setting('app.tenant_id', true), '')::uuid);
grant select, insert, update on tenant_user to sallyport_app;

create table user_password (
  tenant_id uuid not null constraint user_password_tenant_id_fk references tenant (id),
  user_id uuid not null,
  -- argon2id in PHC string form.
  hash text not null,
  updated_at timestamptz not null default clock_timestamp(),
  constraint user_password_pk primary key (tenant_id, user_id),
  constraint user_password_user_id_fk foreign key (tenant_id, user_id) references tenant_user (tenant_id, id)
);
alter table user_password enable row level security;
alter table user_password force row level security;
create policy tenant_wall on user_password
  using (tenant_id = nullif(current_setting('app.tenant_id', true), '')::uuid)
  with check (tenant_id = nullif(current_setting('app.tenant_id', true), '')::uuid);
grant select, insert, update on user_password to sallyport_app;

create table role (
  tenant_id uuid not null constraint role_tenant_id_fk references tenant (id),
  -- System roles: the words user, approver, admin, auditor. Custom roles: uuids.
  id text not null,
  name text not null constraint role_name_ck check (char_length(name) between 1 and 200),
  description text not null default '',
  scopes text[] not null,
  system boolean not null default false,
  created_at timestamptz not null default clock_timestamp(),
  updated_at timestamptz not null default clock_timestamp(),
  constraint role_pk primary key (tenant_id, id)
);
alter table role enable row level security;
alter table role force row level security;
create policy tenant_wall on role
  using (tenant_id = nullif(current_setting('app.tenant_id', true), '')::uuid)
  with check (tenant_id = nullif(current_setting('app.tenant_id', true), '')::uuid);
grant select, insert on role to sallyport_app;

create function system_role_is_fixed() returns trigger language plpgsql as $$
begin
  raise exception 'a system role is never changed or deleted' using errcode = 'restrict_violation', constraint = 'role_system_fixed';
end
$$;
create trigger role_system_fixed before update or delete on role
  for each row when (old.system) execute function system_role_is_fixed();

create table user_role (
  tenant_id uuid not null constraint user_role_tenant_id_fk references tenant (id),
  user_id uuid not null,
  role_id text not null,
  -- A role that the requester of a request granted after asking does not count for deciding it. Null: the operator.
  granted_by uuid,
  granted_at timestamptz not null default clock_timestamp(),
  constraint user_role_pk primary key (tenant_id, user_id, role_id),
  constraint user_role_user_id_fk foreign key (tenant_id, user_id) references tenant_user (tenant_id, id),
  constraint user_role_role_id_fk foreign key (tenant_id, role_id) references role (tenant_id, id),
  constraint user_role_granted_by_fk foreign key (tenant_id, granted_by) references tenant_user (tenant_id, id)
);
create index user_role_role_id_ix on user_role (tenant_id, role_id);
create index user_role_granted_by_ix on user_role (tenant_id, granted_by);
alter table user_role enable row level security;
alter table user_role force row level security;
create policy tenant_wall on user_role
  using (tenant_id = nullif(current_setting('app.tenant_id', true), '')::uuid)
  with check (tenant_id = nullif(current_setting('app.tenant_id', true), '')::uuid);
grant select, insert, delete on user_role to sallyport_app;

create table api_key (
  tenant_id uuid not null constraint api_key_tenant_id_fk references tenant (id),
  id uuid not null,
  name text not null constraint api_key_name_ck check (char_length(name) between 1 and 200),
  -- SHA-256 of the secret, which is 32 random bytes: nothing to guess, so nothing to stretch.
  secret_hash bytea not null constraint api_key_secret_hash_ck check (octet_length(secret_hash) = 32),
  scopes text[] not null,
  created_by uuid not null,
  last_used_at timestamptz,
  expires_at timestamptz,
  revoked_at timestamptz,
  revoked_by uuid,
  created_at timestamptz not null default clock_timestamp(),
  constraint api_key_pk primary key (tenant_id, id),
  -- The key's text names no tenant: its id alone leads to it.
  constraint api_key_id_uq unique (id),
  constraint api_key_created_by_fk foreign key (tenant_id, created_by) references tenant_user (tenant_id, id),
  constraint api_key_revoked_by_fk foreign key (tenant_id, revoked_by) references tenant_user (tenant_id, id)
);
create index api_key_created_by_ix on api_key (tenant_id, created_by);
create index api_key_revoked_by_ix on api_key (tenant_id, revoked_by);
alter table api_key enable row level security;
alter table api_key force row level security;
create policy tenant_wall on api_key
  using (tenant_id = nullif(current_setting('app.tenant_id', true), '')::uuid)
  with check (tenant_id = nullif(current_setting('app.tenant_id', true), '')::uuid);
grant select, insert on api_key to sallyport_app;
grant update (last_used_at, revoked_at, revoked_by) on api_key to sallyport_app;
create policy api_key_work on api_key for select to sallyport_work using (true);
grant select (tenant_id, id) on api_key to sallyport_work;

-- The service's own token keys: no tenant's, sealed under the root key.
create table signing_key (
  kid text constraint signing_key_pk primary key,
  public_jwk jsonb not null,
  sealed_private_jwk text not null,
  created_at timestamptz not null default clock_timestamp()
);
grant select, insert on signing_key to sallyport_app;

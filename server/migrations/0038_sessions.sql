-- A sign-in of a user. A token names its session, and a session that has ended refuses its tokens. A browser that has one also holds a
-- secret in its cookie, of which only the hash is here. Rows that have ended by themselves are cleared away by later sign-ins.
create table user_session (
  tenant_id uuid not null,
  id uuid not null,
  user_id uuid not null,
  -- How the user proved who they are, as in RFC 8176, and when: at the provider, perhaps earlier than here.
  amr text[] not null,
  auth_time timestamptz not null,
  -- The provider of the sign-in: the tenant's own, by the id of its setting, or the operator's. Null: none, with a password.
  provider text,
  -- SHA-256 of the provider's `sub` and `sid`: what it may end the session by.
  provider_sub_hash bytea constraint user_session_provider_sub_hash_ck check (octet_length(provider_sub_hash) = 32),
  provider_sid_hash bytea constraint user_session_provider_sid_hash_ck check (octet_length(provider_sid_hash) = 32),
  source_ip text not null,
  user_agent text,
  created_at timestamptz not null default clock_timestamp(),
  last_used_at timestamptz not null default clock_timestamp(),
  -- Null: no browser has the session.
  cookie_hash bytea constraint user_session_cookie_hash_ck check (octet_length(cookie_hash) = 32),
  -- How long a browser may leave its session unused. Null: the session ends at `ends_at`, used or not.
  idle_seconds integer constraint user_session_idle_seconds_ck check (idle_seconds > 0),
  -- When the session ends at the latest, and when it ends if it is not used again.
  ends_at timestamptz not null,
  live_until timestamptz not null,
  constraint user_session_pk primary key (tenant_id, id),
  constraint user_session_tenant_id_user_id_fk foreign key (tenant_id, user_id) references tenant_user (tenant_id, id),
  constraint user_session_live_until_ck check (live_until <= ends_at),
  constraint user_session_provider_ck check (provider is not null or (provider_sub_hash is null and provider_sid_hash is null))
);
create index user_session_user_ix on user_session (tenant_id, user_id, id);
create index user_session_live_until_ix on user_session (tenant_id, live_until);
create index user_session_provider_sub_ix on user_session (provider, provider_sub_hash) where provider is not null;
create index user_session_provider_sid_ix on user_session (provider, provider_sid_hash) where provider is not null;
alter table user_session enable row level security;
alter table user_session force row level security;
create policy tenant_wall on user_session
  using (tenant_id = nullif(current_setting('app.tenant_id', true), '')::uuid)
  with check (tenant_id = nullif(current_setting('app.tenant_id', true), '')::uuid);
grant select, insert, delete, update (cookie_hash, idle_seconds, ends_at, live_until, last_used_at) on user_session
  to sallyport_app;

-- A session that is ended before its time: what processes keep of its credentials is no longer so.
create trigger user_session_gone after delete on user_session for each row
  when (old.live_until > clock_timestamp())
  execute function authority_changed();

-- Logout tokens of providers that were obeyed, each once. They belong to no tenant: the operator's provider has people in several.
create table logout_token (
  -- SHA-256 of the provider and the token's `jti`.
  id bytea not null constraint logout_token_id_ck check (octet_length(id) = 32),
  expires_at timestamptz not null,
  constraint logout_token_pk primary key (id)
);
create index logout_token_expires_ix on logout_token (expires_at);
-- No row is ever updated: the right to update locks the rows that are deleted.
grant select, insert, delete, update (expires_at) on logout_token to sallyport_app;

-- A logout token comes to the address of a provider, by its id alone; the operator's provider names people in any tenant.
create unique index sign_in_setting_id_ix on sign_in_setting (id);
create policy sign_in_setting_work on sign_in_setting for select to sallyport_work using (true);
grant select (tenant_id, id) on sign_in_setting to sallyport_work;
create policy user_session_work on user_session for select to sallyport_work using (true);
grant select (tenant_id, id, provider, provider_sub_hash, provider_sid_hash) on user_session to sallyport_work;

-- Sign-in by OpenID Connect: each tenant's own provider, what is known of a sign-in under way, and whom a provider's
-- account belongs to.
create table sign_in_setting (
  tenant_id uuid not null constraint sign_in_setting_tenant_id_fk references tenant (id),
  enabled boolean not null,
  issuer text not null constraint sign_in_setting_issuer_ck check (char_length(issuer) between 1 and 2000),
  client_id text not null constraint sign_in_setting_client_id_ck check (char_length(client_id) between 1 and 500),
  -- Null: a public client, held by PKCE alone.
  sealed_client_secret text,
  redirect_uris text[] not null,
  scopes text[] not null,
  version bigint not null default 1,
  updated_at timestamptz not null default clock_timestamp(),
  constraint sign_in_setting_pk primary key (tenant_id)
);
alter table sign_in_setting enable row level security;
alter table sign_in_setting force row level security;
create policy tenant_wall on sign_in_setting
  using (tenant_id = nullif(current_setting('app.tenant_id', true), '')::uuid)
  with check (tenant_id = nullif(current_setting('app.tenant_id', true), '')::uuid);
grant select, insert on sign_in_setting to sallyport_app;
grant update (enabled, issuer, client_id, sealed_client_secret, redirect_uris, scopes, version, updated_at)
  on sign_in_setting to sallyport_app;

-- A sign-in under way: the signed `state` names its row, and whoever deletes the row has used it.
create table sign_in_state (
  tenant_id uuid not null constraint sign_in_state_tenant_id_fk references tenant (id),
  id uuid not null,
  -- Where it was begun: a code goes back there and nowhere else, whatever the tenant sets meanwhile.
  issuer text not null,
  client_id text not null,
  redirect_uri text not null,
  nonce text not null,
  code_verifier text not null,
  -- SHA-256 of the cookie of the browser that began it; null: no browser did.
  browser_hash bytea constraint sign_in_state_browser_hash_ck check (octet_length(browser_hash) = 32),
  expires_at timestamptz not null default clock_timestamp() + interval '10 minutes',
  constraint sign_in_state_pk primary key (tenant_id, id)
);
create index sign_in_state_expired_ix on sign_in_state (tenant_id, expires_at);
alter table sign_in_state enable row level security;
alter table sign_in_state force row level security;
create policy tenant_wall on sign_in_state
  using (tenant_id = nullif(current_setting('app.tenant_id', true), '')::uuid)
  with check (tenant_id = nullif(current_setting('app.tenant_id', true), '')::uuid);
grant select, insert, delete on sign_in_state to sallyport_app;

alter table tenant_user
  -- The provider's account that this user is, once they signed in by it. A provider never changes a subject.
  add column issuer text,
  add column subject text,
  -- While a user made for a provider waits for the first sign-in: a hash of the address, to find the tenant by.
  add column link_key bigint generated always as
    (case when auth_provider = 'oidc' and subject is null and deleted_at is null then hashtextextended(email_key, 0) end)
    stored,
  add constraint tenant_user_subject_ck
    check ((issuer is null) = (subject is null) and (subject is null or auth_provider = 'oidc'));
-- The account of a deleted user is free for another that an administrator makes.
create unique index tenant_user_issuer_subject_uq on tenant_user (tenant_id, issuer, subject) where deleted_at is null;
create index tenant_user_subject_ix on tenant_user (issuer, subject) where subject is not null;
create index tenant_user_link_key_ix on tenant_user (link_key) where link_key is not null;
-- A sign-in that names no tenant: the provider's account leads to it.
create policy tenant_user_work on tenant_user for select to sallyport_work
  using (deleted_at is null and subject is not null or link_key is not null);
grant select (tenant_id, id, issuer, subject, link_key) on tenant_user to sallyport_work;

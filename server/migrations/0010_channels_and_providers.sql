-- Where the tenant is told of events, and the outside services whose secrets it entrusts to us.
create table notification_channel (
  tenant_id uuid not null constraint notification_channel_tenant_id_fk references tenant (id),
  id uuid not null,
  name text not null constraint notification_channel_name_ck check (char_length(name) between 1 and 200),
  channel_type text not null constraint notification_channel_channel_type_ck check (channel_type in ('email')),
  config jsonb not null,
  -- Empty: every event.
  event_filters text[] not null default '{}',
  enabled boolean not null default true,
  created_at timestamptz not null default clock_timestamp(),
  updated_at timestamptz not null default clock_timestamp(),
  constraint notification_channel_pk primary key (tenant_id, id)
);
alter table notification_channel enable row level security;
alter table notification_channel force row level security;
create policy tenant_wall on notification_channel
  using (tenant_id = nullif(current_setting('app.tenant_id', true), '')::uuid)
  with check (tenant_id = nullif(current_setting('app.tenant_id', true), '')::uuid);
grant select, insert, delete on notification_channel to sallyport_app;
grant update (name, config, event_filters, enabled, updated_at) on notification_channel to sallyport_app;

create table identity_provider (
  tenant_id uuid not null constraint identity_provider_tenant_id_fk references tenant (id),
  id uuid not null,
  name text not null constraint identity_provider_name_ck check (char_length(name) between 1 and 200),
  provider_type text not null constraint identity_provider_provider_type_ck check (provider_type in (
    'cloud_identity_center', 'directory_a', 'directory_b', 'directory_c',
    'chat_service', 'code_hosting', 'incident_service', 'custom_scim')),
  -- As it is shown: whatever may be a secret is the word `[redacted]`, and stands in sealed_secrets.
  config jsonb not null default '{}',
  sealed_secrets text,
  enabled boolean not null default true,
  last_synced_at timestamptz,
  sync_status text not null default 'pending'
    constraint identity_provider_sync_status_ck check (sync_status in ('pending', 'syncing', 'synced', 'failed')),
  sync_error text,
  created_at timestamptz not null default clock_timestamp(),
  updated_at timestamptz not null default clock_timestamp(),
  constraint identity_provider_pk primary key (tenant_id, id)
);
alter table identity_provider enable row level security;
alter table identity_provider force row level security;
create policy tenant_wall on identity_provider
  using (tenant_id = nullif(current_setting('app.tenant_id', true), '')::uuid)
  with check (tenant_id = nullif(current_setting('app.tenant_id', true), '')::uuid);
grant select, insert, delete on identity_provider to sallyport_app;
grant update (name, config, sealed_secrets, enabled, updated_at) on identity_provider to sallyport_app;

-- What a key opens is a fact of its record: the prefix of its text is the caller's word.
alter table api_key
  add column kind text not null default 'api' constraint api_key_kind_ck check (kind in ('api', 'scim')),
  add column identity_provider_id uuid,
  add constraint api_key_identity_provider_id_ck check (identity_provider_id is null or kind = 'scim'),
  -- The record outlives the provider, as a revoked key does.
  add constraint api_key_identity_provider_id_fk foreign key (tenant_id, identity_provider_id)
    references identity_provider (tenant_id, id) on delete set null (identity_provider_id);
create index api_key_identity_provider_id_ix on api_key (tenant_id, identity_provider_id, id);

create table ai_provider (
  tenant_id uuid not null constraint ai_provider_tenant_id_fk references tenant (id),
  type text not null constraint ai_provider_type_ck check (type in ('provider_a', 'provider_b', 'provider_c')),
  -- As it is shown, like an identity provider's.
  config jsonb not null,
  sealed_secrets text,
  updated_at timestamptz not null default clock_timestamp(),
  constraint ai_provider_pk primary key (tenant_id, type)
);
alter table ai_provider enable row level security;
alter table ai_provider force row level security;
create policy tenant_wall on ai_provider
  using (tenant_id = nullif(current_setting('app.tenant_id', true), '')::uuid)
  with check (tenant_id = nullif(current_setting('app.tenant_id', true), '')::uuid);
grant select, insert on ai_provider to sallyport_app;
grant update (config, sealed_secrets, updated_at) on ai_provider to sallyport_app;

-- At most one a tenant; its config may never have been set.
create table ai_provider_default (
  tenant_id uuid not null constraint ai_provider_default_tenant_id_fk references tenant (id),
  type text not null constraint ai_provider_default_type_ck check (type in ('provider_a', 'provider_b', 'provider_c')),
  updated_at timestamptz not null default clock_timestamp(),
  constraint ai_provider_default_pk primary key (tenant_id)
);
alter table ai_provider_default enable row level security;
alter table ai_provider_default force row level security;
create policy tenant_wall on ai_provider_default
  using (tenant_id = nullif(current_setting('app.tenant_id', true), '')::uuid)
  with check (tenant_id = nullif(current_setting('app.tenant_id', true), '')::uuid);
grant select, insert on ai_provider_default to sallyport_app;
grant update (type, updated_at) on ai_provider_default to sallyport_app;

-- Where a tenant has access given: what serves its resources in place of the sandbox.
create table provisioner (
  tenant_id uuid not null constraint provisioner_tenant_id_fk references tenant (id),
  id uuid not null,
  name text not null constraint provisioner_name_ck check (char_length(name) between 1 and 200),
  provisioner_type text not null constraint provisioner_provisioner_type_ck check (
    provisioner_type in ('sandbox', 'postgresql', 'aws-identity-center', 'webhook')),
  -- As it is shown: whatever may be a secret is the word `[redacted]`, and stands in sealed_secrets.
  config jsonb not null default '{}',
  sealed_secrets text,
  -- A disabled one gives nothing new; what it gave it still takes away.
  enabled boolean not null default true,
  -- What was changed at the target by hand is put right; else it is told, and left.
  corrects_drift boolean not null default false,
  -- One more at each change: whoever has it open sees by it that it is another now.
  version integer not null default 1,
  created_at timestamptz not null default clock_timestamp(),
  updated_at timestamptz not null default clock_timestamp(),
  constraint provisioner_pk primary key (tenant_id, id)
);
alter table provisioner enable row level security;
alter table provisioner force row level security;
create policy tenant_wall on provisioner
  using (tenant_id = nullif(current_setting('app.tenant_id', true), '')::uuid)
  with check (tenant_id = nullif(current_setting('app.tenant_id', true), '')::uuid);
grant select, insert, delete on provisioner to sallyport_app;
grant update (name, config, sealed_secrets, enabled, corrects_drift, version, updated_at) on provisioner to sallyport_app;

-- Which provisioner serves a type of resource: in one account, or wherever no other does.
create table served_resource (
  tenant_id uuid not null,
  resource_type text not null constraint served_resource_resource_type_ck check (char_length(resource_type) between 1 and 100),
  -- Empty: every account that has no line of its own.
  account_id text not null default '' constraint served_resource_account_id_ck check (account_id ~ '^([0-9]{12})?$'),
  provisioner_id uuid not null,
  constraint served_resource_pk primary key (tenant_id, resource_type, account_id),
  constraint served_resource_provisioner_id_fk foreign key (tenant_id, provisioner_id)
    references provisioner (tenant_id, id) on delete cascade
);
create index served_resource_provisioner_id_ix on served_resource (tenant_id, provisioner_id);
alter table served_resource enable row level security;
alter table served_resource force row level security;
create policy tenant_wall on served_resource
  using (tenant_id = nullif(current_setting('app.tenant_id', true), '')::uuid)
  with check (tenant_id = nullif(current_setting('app.tenant_id', true), '')::uuid);
grant select, insert, delete on served_resource to sallyport_app;
grant update (provisioner_id) on served_resource to sallyport_app;

alter table entitlement
  -- Which of them acts on it; null: the sandbox of a tenant that has none, or one that was deleted when all was gone.
  add column provisioner_id uuid,
  -- How long a session that was issued at the last moment lives on after the end; null: nobody knows.
  add column session_seconds integer constraint entitlement_session_seconds_ck check (session_seconds >= 0),
  add constraint entitlement_provisioner_id_fk foreign key (tenant_id, provisioner_id)
    references provisioner (tenant_id, id) on delete set null (provisioner_id);
create index entitlement_provisioner_id_ix on entitlement (tenant_id, provisioner_id) where provisioner_id is not null;
-- The sandbox lets no session live on.
update entitlement set session_seconds = 0;

-- Runs beside code that knows 0073.

-- What targets say of themselves: a cache for lists that people read, from which no decision follows.

-- An account that an inventory found. Null: the tenant's own entry, which no inventory changes.
alter table cloud_account
  add column discovered_by uuid,
  add constraint cloud_account_discovered_by_fk foreign key (tenant_id, discovered_by)
    references provisioner (tenant_id, id) on delete set null (discovered_by);

-- Each part of a target that is read by itself: a work list. `generation` names a run: rows of the inventory say which one saw them.
create table inventory_part (
  tenant_id uuid not null,
  id uuid not null,
  provisioner_id uuid not null,
  part text not null,
  failures integer not null default 0,
  last_error text,
  -- When a run last came to its end.
  finished_at timestamptz,
  -- Its generation.
  finished_run bigint,
  -- What that run found.
  counts jsonb,
  next_look_at timestamptz not null,
  lease_until timestamptz,
  generation bigint not null default 0,
  constraint inventory_part_pk primary key (tenant_id, id),
  constraint inventory_part_part_uq unique (tenant_id, provisioner_id, part),
  constraint inventory_part_provisioner_id_fk foreign key (tenant_id, provisioner_id)
    references provisioner (tenant_id, id) on delete cascade,
  constraint inventory_part_part_ck check (part in ('accounts', 'permission_sets', 'people', 'databases', 'assignments'))
);
create index inventory_part_due_ix on inventory_part (next_look_at);
-- The instances that are set up already are read once the new code runs.
alter table provisioner no force row level security;
insert into inventory_part (tenant_id, id, provisioner_id, part, next_look_at)
  select p.tenant_id, gen_random_uuid(), p.id, part, clock_timestamp()
  from provisioner p cross join unnest(array['accounts', 'permission_sets', 'people', 'databases', 'assignments']) part
  where p.enabled and p.provisioner_type = 'aws-identity-center';
alter table provisioner force row level security;
alter table inventory_part enable row level security;
alter table inventory_part force row level security;
create policy tenant_wall on inventory_part
  using (tenant_id = nullif(current_setting('app.tenant_id', true), '')::uuid)
  with check (tenant_id = nullif(current_setting('app.tenant_id', true), '')::uuid);
grant select, insert, update on inventory_part to sallyport_app;
create policy inventory_part_work on inventory_part to sallyport_work using (true) with check (true);
grant select (tenant_id, id, next_look_at, lease_until, generation) on inventory_part to sallyport_work;
grant update (lease_until, generation) on inventory_part to sallyport_work;

-- Accounts, units, permission sets and databases.
create table inventory_resource (
  tenant_id uuid not null,
  provisioner_id uuid not null,
  resource_type text not null,
  id text collate "C" not null constraint inventory_resource_id_ck check (char_length(id) between 1 and 300),
  name text not null constraint inventory_resource_name_ck check (char_length(name) between 1 and 200),
  description text constraint inventory_resource_description_ck check (char_length(description) <= 1000),
  account_id text constraint inventory_resource_account_id_ck check (char_length(account_id) <= 128),
  tags jsonb not null constraint inventory_resource_tags_ck check (jsonb_typeof(tags) = 'object' and octet_length(tags::text) <= 32768),
  -- What is known of a resource of its type, such as how long the sessions of a permission set last.
  facts jsonb not null constraint inventory_resource_facts_ck check (jsonb_typeof(facts) = 'object' and octet_length(facts::text) <= 8192),
  run bigint not null,
  constraint inventory_resource_pk primary key (tenant_id, provisioner_id, resource_type, id),
  constraint inventory_resource_provisioner_id_fk foreign key (tenant_id, provisioner_id)
    references provisioner (tenant_id, id) on delete cascade,
  constraint inventory_resource_resource_type_ck check (resource_type in
    ('cloud_account', 'cloud_organizational_unit', 'cloud_permission_set', 'cloud_db_instance'))
);
-- What any provisioner of the tenant found: by name, and in the order of the catalogue.
create index inventory_resource_name_ix on inventory_resource (tenant_id, resource_type, name, provisioner_id);
create index inventory_resource_id_ix on inventory_resource (tenant_id, resource_type, id, provisioner_id);
alter table inventory_resource enable row level security;
alter table inventory_resource force row level security;
create policy tenant_wall on inventory_resource
  using (tenant_id = nullif(current_setting('app.tenant_id', true), '')::uuid)
  with check (tenant_id = nullif(current_setting('app.tenant_id', true), '')::uuid);
grant select, insert, update, delete on inventory_resource to sallyport_app;

-- People of the target's directory, and those whom a group or an assignment names and the directory does not.
create table inventory_person (
  tenant_id uuid not null,
  provisioner_id uuid not null,
  id text collate "C" not null constraint inventory_person_id_ck check (char_length(id) between 1 and 300),
  name text not null constraint inventory_person_name_ck check (char_length(name) between 1 and 200),
  name_key text collate "C" not null generated always as (sort_key(name)) stored,
  -- Null: the directory did not name this person.
  login text constraint inventory_person_login_ck check (char_length(login) between 1 and 300),
  -- The login as addresses are compared.
  login_key text collate "C" constraint inventory_person_login_key_ck check (char_length(login_key) between 1 and 600),
  -- The id at the issuer that the provisioner names.
  external_id text collate "C" constraint inventory_person_external_id_ck check (char_length(external_id) between 1 and 500),
  run bigint not null,
  constraint inventory_person_pk primary key (tenant_id, provisioner_id, id),
  constraint inventory_person_provisioner_id_fk foreign key (tenant_id, provisioner_id)
    references provisioner (tenant_id, id) on delete cascade
);
create index inventory_person_name_ix on inventory_person (tenant_id, provisioner_id, name_key, id);
create index inventory_person_login_ix on inventory_person (tenant_id, provisioner_id, login_key) where login_key is not null;
create index inventory_person_external_id_ix on inventory_person (tenant_id, provisioner_id, external_id) where external_id is not null;
alter table inventory_person enable row level security;
alter table inventory_person force row level security;
create policy tenant_wall on inventory_person
  using (tenant_id = nullif(current_setting('app.tenant_id', true), '')::uuid)
  with check (tenant_id = nullif(current_setting('app.tenant_id', true), '')::uuid);
grant select, insert, update, delete on inventory_person to sallyport_app;

create table inventory_group (
  tenant_id uuid not null,
  provisioner_id uuid not null,
  id text collate "C" not null constraint inventory_group_id_ck check (char_length(id) between 1 and 300),
  name text not null constraint inventory_group_name_ck check (char_length(name) between 1 and 200),
  name_key text collate "C" not null generated always as (sort_key(name)) stored,
  -- Whether the directory named this group; otherwise only an assignment did.
  known boolean not null,
  run bigint not null,
  constraint inventory_group_pk primary key (tenant_id, provisioner_id, id),
  constraint inventory_group_provisioner_id_fk foreign key (tenant_id, provisioner_id)
    references provisioner (tenant_id, id) on delete cascade
);
create index inventory_group_name_ix on inventory_group (tenant_id, provisioner_id, name_key, id);
alter table inventory_group enable row level security;
alter table inventory_group force row level security;
create policy tenant_wall on inventory_group
  using (tenant_id = nullif(current_setting('app.tenant_id', true), '')::uuid)
  with check (tenant_id = nullif(current_setting('app.tenant_id', true), '')::uuid);
grant select, insert, update, delete on inventory_group to sallyport_app;

create table inventory_group_member (
  tenant_id uuid not null,
  provisioner_id uuid not null,
  group_id text collate "C" not null,
  person_id text collate "C" not null,
  run bigint not null,
  constraint inventory_group_member_pk primary key (tenant_id, provisioner_id, group_id, person_id),
  constraint inventory_group_member_group_id_fk foreign key (tenant_id, provisioner_id, group_id)
    references inventory_group (tenant_id, provisioner_id, id) on delete cascade
);
create index inventory_group_member_person_id_ix on inventory_group_member (tenant_id, provisioner_id, person_id, group_id);
alter table inventory_group_member enable row level security;
alter table inventory_group_member force row level security;
create policy tenant_wall on inventory_group_member
  using (tenant_id = nullif(current_setting('app.tenant_id', true), '')::uuid)
  with check (tenant_id = nullif(current_setting('app.tenant_id', true), '')::uuid);
grant select, insert, update, delete on inventory_group_member to sallyport_app;

-- Who holds which permission set where.
create table standing_access (
  tenant_id uuid not null,
  provisioner_id uuid not null,
  account_id text collate "C" not null constraint standing_access_account_id_ck check (char_length(account_id) between 1 and 128),
  permission_set_id text collate "C" not null constraint standing_access_permission_set_id_ck
    check (char_length(permission_set_id) between 1 and 300),
  principal_type text collate "C" not null constraint standing_access_principal_type_ck check (principal_type in ('person', 'group')),
  principal_id text collate "C" not null constraint standing_access_principal_id_ck check (char_length(principal_id) between 1 and 300),
  -- How the ledger names this access.
  entitlement_key text constraint standing_access_entitlement_key_ck check (char_length(entitlement_key) <= 2000),
  run bigint not null,
  constraint standing_access_pk primary key
    (tenant_id, provisioner_id, account_id, permission_set_id, principal_type, principal_id),
  constraint standing_access_provisioner_id_fk foreign key (tenant_id, provisioner_id)
    references provisioner (tenant_id, id) on delete cascade
);
create index standing_access_permission_set_id_ix on standing_access
  (tenant_id, provisioner_id, permission_set_id, account_id, principal_type, principal_id);
create index standing_access_principal_id_ix on standing_access
  (tenant_id, provisioner_id, principal_type, principal_id, account_id, permission_set_id);
alter table standing_access enable row level security;
alter table standing_access force row level security;
create policy tenant_wall on standing_access
  using (tenant_id = nullif(current_setting('app.tenant_id', true), '')::uuid)
  with check (tenant_id = nullif(current_setting('app.tenant_id', true), '')::uuid);
grant select, insert, update, delete on standing_access to sallyport_app;

-- Runs beside code that knows 0077.
-- Users and groups that a directory manages: an identity provider that pushes over SCIM.
create table directory_user (
  tenant_id uuid not null constraint directory_user_tenant_id_fk references tenant (id),
  user_id uuid not null,
  identity_provider_id uuid not null,
  -- The id of the user in the directory.
  external_id text collate "C" constraint directory_user_external_id_ck check (char_length(external_id) between 1 and 600),
  -- The name of the user in the directory, as it is searched: in lower case.
  user_name_key text collate "C" not null
    constraint directory_user_user_name_key_ck check (char_length(user_name_key) between 1 and 1200),
  -- What the directory said, with the names of RFC 7643, without id and meta.
  resource jsonb not null,
  -- The id or the external id of the manager, as the directory said it. The user may not be known, or not yet.
  manager_key text collate "C",
  created_at timestamptz not null default clock_timestamp(),
  -- When the directory last changed something.
  updated_at timestamptz not null default clock_timestamp(),
  constraint directory_user_pk primary key (tenant_id, user_id),
  constraint directory_user_user_id_fk foreign key (tenant_id, user_id) references tenant_user (tenant_id, id) on delete cascade,
  constraint directory_user_identity_provider_id_fk foreign key (tenant_id, identity_provider_id)
    references identity_provider (tenant_id, id) on delete cascade,
  constraint directory_user_user_name_key_uq unique (tenant_id, identity_provider_id, user_name_key),
  constraint directory_user_external_id_uq unique (tenant_id, identity_provider_id, external_id)
);
create index directory_user_provider_ix on directory_user (tenant_id, identity_provider_id, user_id);
create index directory_user_updated_at_ix on directory_user (tenant_id, identity_provider_id, updated_at);
create index directory_user_manager_key_ix on directory_user (tenant_id, identity_provider_id, manager_key)
  where manager_key is not null;
alter table directory_user enable row level security;
alter table directory_user force row level security;
create policy tenant_wall on directory_user
  using (tenant_id = nullif(current_setting('app.tenant_id', true), '')::uuid)
  with check (tenant_id = nullif(current_setting('app.tenant_id', true), '')::uuid);
grant select, insert, delete on directory_user to sallyport_app;
grant update (external_id, user_name_key, resource, manager_key, updated_at) on directory_user to sallyport_app;

-- The values of those users by which filters find them.
create table directory_value (
  tenant_id uuid not null,
  identity_provider_id uuid not null,
  user_id uuid not null,
  -- The attribute, and its part: `emails.value`.
  path text collate "C" not null,
  -- The value as it is compared: in lower case where case does not count.
  key text collate "C" not null,
  -- The place of the value in its list.
  element integer not null,
  constraint directory_value_pk primary key (tenant_id, user_id, path, element),
  constraint directory_value_user_id_fk foreign key (tenant_id, user_id)
    references directory_user (tenant_id, user_id) on delete cascade
);
create index directory_value_key_ix on directory_value (tenant_id, identity_provider_id, path, key, user_id);
alter table directory_value enable row level security;
alter table directory_value force row level security;
create policy tenant_wall on directory_value
  using (tenant_id = nullif(current_setting('app.tenant_id', true), '')::uuid)
  with check (tenant_id = nullif(current_setting('app.tenant_id', true), '')::uuid);
grant select, insert, delete, update (key) on directory_value to sallyport_app;

create table directory_group (
  tenant_id uuid not null constraint directory_group_tenant_id_fk references tenant (id),
  group_id uuid not null,
  identity_provider_id uuid not null,
  external_id text collate "C" constraint directory_group_external_id_ck check (char_length(external_id) between 1 and 600),
  display_name text not null,
  -- The name as it is searched: in lower case.
  display_name_key text collate "C" not null
    constraint directory_group_display_name_key_ck check (char_length(display_name_key) between 1 and 1200),
  created_at timestamptz not null default clock_timestamp(),
  updated_at timestamptz not null default clock_timestamp(),
  constraint directory_group_pk primary key (tenant_id, group_id),
  constraint directory_group_group_id_fk foreign key (tenant_id, group_id) references tenant_group (tenant_id, id) on delete cascade,
  constraint directory_group_identity_provider_id_fk foreign key (tenant_id, identity_provider_id)
    references identity_provider (tenant_id, id) on delete cascade,
  constraint directory_group_external_id_uq unique (tenant_id, identity_provider_id, external_id)
);
create index directory_group_provider_ix on directory_group (tenant_id, identity_provider_id, group_id);
create index directory_group_updated_at_ix on directory_group (tenant_id, identity_provider_id, updated_at);
create index directory_group_display_name_key_ix on directory_group (tenant_id, identity_provider_id, display_name_key);
-- A call that is sent again makes no second group. Two groups of one name have each its own external id.
create unique index directory_group_display_name_uq on directory_group (tenant_id, identity_provider_id, display_name_key)
  where external_id is null;
alter table directory_group enable row level security;
alter table directory_group force row level security;
create policy tenant_wall on directory_group
  using (tenant_id = nullif(current_setting('app.tenant_id', true), '')::uuid)
  with check (tenant_id = nullif(current_setting('app.tenant_id', true), '')::uuid);
grant select, insert, delete on directory_group to sallyport_app;
grant update (external_id, display_name, display_name_key, updated_at) on directory_group to sallyport_app;

-- The groups of a provider that is deleted are managed here from then on.
grant update (source) on tenant_group to sallyport_app;
grant update (membership_source) on group_member to sallyport_app;

-- Each process forgets what it keeps of the keys of a provider that is switched off or on.
create trigger identity_provider_authority after update on identity_provider for each row
  when (old.enabled is distinct from new.enabled) execute function authority_changed();

-- Which directory has the people who sign in by the tenant's provider. Null: none, or the provider says who they are.
alter table sign_in_setting
  add column identity_provider_id uuid,
  add constraint sign_in_setting_identity_provider_id_fk foreign key (tenant_id, identity_provider_id)
    references identity_provider (tenant_id, id) on delete set null (identity_provider_id);
grant update (identity_provider_id) on sign_in_setting to sallyport_app;

-- Users whom a directory deactivated or deleted within the last hour. `size`: its active users when the first of them went.
create table directory_removal (
  tenant_id uuid not null constraint directory_removal_tenant_id_fk references tenant (id),
  identity_provider_id uuid not null,
  id uuid not null,
  at timestamptz not null default clock_timestamp(),
  size integer not null,
  constraint directory_removal_pk primary key (tenant_id, id),
  constraint directory_removal_identity_provider_id_fk foreign key (tenant_id, identity_provider_id)
    references identity_provider (tenant_id, id) on delete cascade
);
create index directory_removal_at_ix on directory_removal (tenant_id, identity_provider_id, at);
alter table directory_removal enable row level security;
alter table directory_removal force row level security;
create policy tenant_wall on directory_removal
  using (tenant_id = nullif(current_setting('app.tenant_id', true), '')::uuid)
  with check (tenant_id = nullif(current_setting('app.tenant_id', true), '')::uuid);
grant select, insert, delete on directory_removal to sallyport_app;
-- When the owners were last notified that a directory removes many users.
alter table identity_provider add column mass_removal_at timestamptz;
grant update (mass_removal_at, last_synced_at, sync_status, sync_error) on identity_provider to sallyport_app;

-- Users whom a directory sent and who are not made: somebody else has their address, and a person decides who they are.
create table directory_conflict (
  tenant_id uuid not null constraint directory_conflict_tenant_id_fk references tenant (id),
  id uuid not null,
  identity_provider_id uuid not null,
  -- The name of the user in the directory, as for its users.
  user_name_key text collate "C" not null,
  -- What the directory said last.
  resource jsonb not null,
  -- The user who has the address.
  user_id uuid not null,
  -- A person said that the two are not the same; the directory's user stays out.
  kept_apart_by uuid,
  kept_apart_at timestamptz,
  created_at timestamptz not null default clock_timestamp(),
  seen_at timestamptz not null default clock_timestamp(),
  constraint directory_conflict_pk primary key (tenant_id, id),
  constraint directory_conflict_identity_provider_id_fk foreign key (tenant_id, identity_provider_id)
    references identity_provider (tenant_id, id) on delete cascade,
  constraint directory_conflict_user_id_fk foreign key (tenant_id, user_id) references tenant_user (tenant_id, id),
  constraint directory_conflict_kept_apart_by_fk foreign key (tenant_id, kept_apart_by) references tenant_user (tenant_id, id),
  constraint directory_conflict_kept_apart_ck check ((kept_apart_by is null) = (kept_apart_at is null)),
  constraint directory_conflict_user_id_uq unique (tenant_id, identity_provider_id, user_id)
);
create index directory_conflict_user_name_key_ix on directory_conflict (tenant_id, identity_provider_id, user_name_key);
create index directory_conflict_user_id_ix on directory_conflict (tenant_id, user_id);
create index directory_conflict_kept_apart_by_ix on directory_conflict (tenant_id, kept_apart_by) where kept_apart_by is not null;
alter table directory_conflict enable row level security;
alter table directory_conflict force row level security;
create policy tenant_wall on directory_conflict
  using (tenant_id = nullif(current_setting('app.tenant_id', true), '')::uuid)
  with check (tenant_id = nullif(current_setting('app.tenant_id', true), '')::uuid);
grant select, insert, delete on directory_conflict to sallyport_app;
grant update (user_name_key, resource, kept_apart_by, kept_apart_at, seen_at) on directory_conflict to sallyport_app;

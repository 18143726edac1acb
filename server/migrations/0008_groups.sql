-- Roles that a tenant makes for itself may change and go; the trigger on `role` keeps the system's own as they are.
grant update (name, description, scopes, updated_at), delete on role to sallyport_app;

-- What was added to a role since it was made. A scope that the requester of a request added after asking does not count
-- for deciding it, no more than a role that they gave.
create table role_added_scope (
  tenant_id uuid not null constraint role_added_scope_tenant_id_fk references tenant (id),
  role_id text not null,
  scope text not null,
  -- Null: the operator.
  added_by uuid,
  added_at timestamptz not null default clock_timestamp(),
  constraint role_added_scope_pk primary key (tenant_id, role_id, scope),
  constraint role_added_scope_role_id_fk foreign key (tenant_id, role_id) references role (tenant_id, id) on delete cascade,
  constraint role_added_scope_added_by_fk foreign key (tenant_id, added_by) references tenant_user (tenant_id, id)
);
create index role_added_scope_added_by_ix on role_added_scope (tenant_id, added_by);
alter table role_added_scope enable row level security;
alter table role_added_scope force row level security;
create policy tenant_wall on role_added_scope
  using (tenant_id = nullif(current_setting('app.tenant_id', true), '')::uuid)
  with check (tenant_id = nullif(current_setting('app.tenant_id', true), '')::uuid);
grant select, insert, delete on role_added_scope to sallyport_app;
grant update (added_by, added_at) on role_added_scope to sallyport_app;

-- Groups: who belongs together, and the roles that each of them holds by it.
create table tenant_group (
  tenant_id uuid not null constraint tenant_group_tenant_id_fk references tenant (id),
  id uuid not null,
  name text not null constraint tenant_group_name_ck check (char_length(name) between 1 and 200),
  description text not null default '',
  -- Who writes it: people here, or a directory alone.
  source text not null constraint tenant_group_source_ck check (source in ('local', 'scim', 'identity_provider')),
  created_at timestamptz not null default clock_timestamp(),
  updated_at timestamptz not null default clock_timestamp(),
  constraint tenant_group_pk primary key (tenant_id, id)
);
create index tenant_group_source_ix on tenant_group (tenant_id, source, id);
alter table tenant_group enable row level security;
alter table tenant_group force row level security;
create policy tenant_wall on tenant_group
  using (tenant_id = nullif(current_setting('app.tenant_id', true), '')::uuid)
  with check (tenant_id = nullif(current_setting('app.tenant_id', true), '')::uuid);
grant select, insert, delete on tenant_group to sallyport_app;
grant update (name, description, updated_at) on tenant_group to sallyport_app;

create table group_member (
  tenant_id uuid not null constraint group_member_tenant_id_fk references tenant (id),
  group_id uuid not null,
  user_id uuid not null,
  membership_source text not null
    constraint group_member_membership_source_ck check (membership_source in ('local', 'scim', 'identity_provider')),
  -- A membership that the requester of a request gave after asking does not count for deciding it. Null: no person.
  added_by uuid,
  created_at timestamptz not null default clock_timestamp(),
  constraint group_member_pk primary key (tenant_id, group_id, user_id),
  constraint group_member_group_id_fk foreign key (tenant_id, group_id) references tenant_group (tenant_id, id) on delete cascade,
  constraint group_member_user_id_fk foreign key (tenant_id, user_id) references tenant_user (tenant_id, id),
  constraint group_member_added_by_fk foreign key (tenant_id, added_by) references tenant_user (tenant_id, id)
);
create index group_member_user_id_ix on group_member (tenant_id, user_id);
create index group_member_added_by_ix on group_member (tenant_id, added_by);
alter table group_member enable row level security;
alter table group_member force row level security;
create policy tenant_wall on group_member
  using (tenant_id = nullif(current_setting('app.tenant_id', true), '')::uuid)
  with check (tenant_id = nullif(current_setting('app.tenant_id', true), '')::uuid);
grant select, insert, delete on group_member to sallyport_app;

create table group_role (
  tenant_id uuid not null constraint group_role_tenant_id_fk references tenant (id),
  group_id uuid not null,
  role_id text not null,
  -- As for a membership. Null: the operator.
  mapped_by uuid,
  mapped_at timestamptz not null default clock_timestamp(),
  constraint group_role_pk primary key (tenant_id, group_id, role_id),
  constraint group_role_group_id_fk foreign key (tenant_id, group_id) references tenant_group (tenant_id, id) on delete cascade,
  constraint group_role_role_id_fk foreign key (tenant_id, role_id) references role (tenant_id, id),
  constraint group_role_mapped_by_fk foreign key (tenant_id, mapped_by) references tenant_user (tenant_id, id)
);
create index group_role_role_id_ix on group_role (tenant_id, role_id);
create index group_role_mapped_by_ix on group_role (tenant_id, mapped_by);
alter table group_role enable row level security;
alter table group_role force row level security;
create policy tenant_wall on group_role
  using (tenant_id = nullif(current_setting('app.tenant_id', true), '')::uuid)
  with check (tenant_id = nullif(current_setting('app.tenant_id', true), '')::uuid);
grant select, insert, delete on group_role to sallyport_app;

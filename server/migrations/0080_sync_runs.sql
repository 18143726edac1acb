-- Runs beside code that knows 0079.
-- Directories that are read: each run reads one, compares it with the users and groups here, and writes what differs.

-- Who last said where a directory is read: what is read counts as given by them. Null: set up before this was kept.
alter table identity_provider
  add column configured_by uuid,
  -- Counts the changes of the config: a run that read by an earlier one writes nothing.
  add column config_version integer not null default 0,
  -- When a run that was no dry one last succeeded: from then on it is read by its schedule.
  add column read_at timestamptz,
  add constraint identity_provider_configured_by_fk foreign key (tenant_id, configured_by) references tenant_user (tenant_id, id);
grant update (configured_by, config_version, read_at) on identity_provider to sallyport_app;

-- A work list. The one run of a provider that is not finished is under way, or the next one by its schedule.
create table sync_run (
  tenant_id uuid not null constraint sync_run_tenant_id_fk references tenant (id),
  id uuid not null,
  identity_provider_id uuid not null,
  status text not null default 'pending',
  -- Counts what would change, and changes nothing.
  dry_run boolean not null default false,
  -- Null: the schedule.
  requested_by uuid,
  -- When the schedule wanted a run that a dry one has taken the place of.
  scheduled_for timestamptz,
  -- The config of the provider by which it reads.
  config_version integer,
  -- The run whose removals a person confirmed.
  confirms uuid,
  -- How far a run has come. Of one that is interrupted, reading begins again, and writing goes on.
  phase text,
  attempts integer not null default 0,
  people_read integer not null default 0,
  groups_read integer not null default 0,
  -- Of the changes to be written.
  done integer not null default 0,
  total integer,
  counts jsonb,
  -- Too many users or groups would go: a person confirms it, or not.
  needs_confirmation boolean not null default false,
  error text,
  created_at timestamptz not null default clock_timestamp(),
  started_at timestamptz,
  finished_at timestamptz,
  next_look_at timestamptz,
  lease_until timestamptz,
  generation bigint not null default 0,
  constraint sync_run_pk primary key (tenant_id, id),
  constraint sync_run_identity_provider_id_fk foreign key (tenant_id, identity_provider_id)
    references identity_provider (tenant_id, id) on delete cascade,
  constraint sync_run_requested_by_fk foreign key (tenant_id, requested_by) references tenant_user (tenant_id, id),
  constraint sync_run_status_ck check (status in ('pending', 'syncing', 'synced', 'failed')),
  constraint sync_run_phase_ck check (phase in ('reading', 'people', 'groups')),
  constraint sync_run_finished_at_ck check ((finished_at is not null) = (status in ('synced', 'failed'))),
  constraint sync_run_next_look_at_ck check ((finished_at is null) = (next_look_at is not null)),
  constraint sync_run_error_ck check ((error is not null) = (status = 'failed')),
  constraint sync_run_needs_confirmation_ck check (not needs_confirmation or status = 'failed' or dry_run)
);
create unique index sync_run_one_uq on sync_run (tenant_id, identity_provider_id) where finished_at is null;
create index sync_run_provider_ix on sync_run (tenant_id, identity_provider_id, id);
create index sync_run_due_ix on sync_run (next_look_at) where next_look_at is not null;
create index sync_run_requested_by_ix on sync_run (tenant_id, requested_by) where requested_by is not null;
alter table sync_run enable row level security;
alter table sync_run force row level security;
create policy tenant_wall on sync_run
  using (tenant_id = nullif(current_setting('app.tenant_id', true), '')::uuid)
  with check (tenant_id = nullif(current_setting('app.tenant_id', true), '')::uuid);
grant select, insert, update, delete on sync_run to sallyport_app;
create policy sync_run_work on sync_run to sallyport_work using (true) with check (true);
grant select (tenant_id, id, next_look_at, lease_until, generation) on sync_run to sallyport_work;
grant update (lease_until, generation) on sync_run to sallyport_work;

-- Whom a run read, and what it does with each. When the run ends, those with whom it does nothing are deleted, and resources are forgotten.
create table sync_person (
  tenant_id uuid not null,
  run_id uuid not null,
  -- The id in the directory.
  source_id text collate "C" not null constraint sync_person_source_id_ck check (char_length(source_id) between 1 and 600),
  user_name text,
  name text,
  email text,
  -- The address as it is compared, and its domain.
  email_keys text[],
  mail_domain text,
  active boolean not null,
  resource jsonb,
  -- The user here.
  user_id uuid,
  change text,
  -- Why it cannot be done.
  message text,
  done boolean not null default false,
  constraint sync_person_pk primary key (tenant_id, run_id, source_id),
  constraint sync_person_run_id_fk foreign key (tenant_id, run_id) references sync_run (tenant_id, id) on delete cascade,
  constraint sync_person_change_ck check (change in
    ('unchanged', 'add', 'adopt', 'change', 'enable', 'disable', 'absent', 'settle', 'left_out', 'invalid'))
);
create index sync_person_change_ix on sync_person (tenant_id, run_id, change, source_id);
-- What is still to be written.
create index sync_person_due_ix on sync_person (tenant_id, run_id, change, source_id) where not done and message is null;
alter table sync_person enable row level security;
alter table sync_person force row level security;
create policy tenant_wall on sync_person
  using (tenant_id = nullif(current_setting('app.tenant_id', true), '')::uuid)
  with check (tenant_id = nullif(current_setting('app.tenant_id', true), '')::uuid);
grant select, insert, update, delete on sync_person to sallyport_app;

create table sync_group (
  tenant_id uuid not null,
  run_id uuid not null,
  source_id text collate "C" not null constraint sync_group_source_id_ck check (char_length(source_id) between 1 and 600),
  name text not null,
  -- It is here, and the directory does not have it.
  absent boolean not null default false,
  group_id uuid,
  change text,
  message text,
  done boolean not null default false,
  constraint sync_group_pk primary key (tenant_id, run_id, source_id),
  constraint sync_group_run_id_fk foreign key (tenant_id, run_id) references sync_run (tenant_id, id) on delete cascade,
  constraint sync_group_change_ck check (change in ('unchanged', 'add', 'change', 'empty', 'invalid'))
);
create index sync_group_change_ix on sync_group (tenant_id, run_id, change, source_id);
create index sync_group_due_ix on sync_group (tenant_id, run_id, source_id) where not done and message is null;
alter table sync_group enable row level security;
alter table sync_group force row level security;
create policy tenant_wall on sync_group
  using (tenant_id = nullif(current_setting('app.tenant_id', true), '')::uuid)
  with check (tenant_id = nullif(current_setting('app.tenant_id', true), '')::uuid);
grant select, insert, update, delete on sync_group to sallyport_app;

create table sync_member (
  tenant_id uuid not null,
  run_id uuid not null,
  group_source_id text collate "C" not null,
  person_source_id text collate "C" not null,
  -- The user here; null for who is none, or not yet.
  user_id uuid,
  constraint sync_member_pk primary key (tenant_id, run_id, group_source_id, person_source_id),
  constraint sync_member_group_fk foreign key (tenant_id, run_id, group_source_id)
    references sync_group (tenant_id, run_id, source_id) on delete cascade
);
alter table sync_member enable row level security;
alter table sync_member force row level security;
create policy tenant_wall on sync_member
  using (tenant_id = nullif(current_setting('app.tenant_id', true), '')::uuid)
  with check (tenant_id = nullif(current_setting('app.tenant_id', true), '')::uuid);
grant select, insert, update, delete on sync_member to sallyport_app;
create index sync_member_unknown_ix on sync_member (tenant_id, run_id, group_source_id, person_source_id) where user_id is null;

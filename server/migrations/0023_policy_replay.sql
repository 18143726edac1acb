-- A draft of policies tried on the questions of the last days: its own work list, one row at a time a tenant.
create table policy_replay (
  tenant_id uuid not null constraint policy_replay_tenant_id_fk references tenant (id),
  id uuid not null,
  created_by uuid,
  status text not null default 'waiting'
    constraint policy_replay_status_ck check (status in ('waiting', 'running', 'done', 'failed')),
  draft jsonb not null,
  days integer not null constraint policy_replay_days_ck check (days between 1 and 90),
  -- How often it was begun: one that is broken off again and again is given up.
  attempts integer not null default 0,
  -- How many questions were decided, of how many; null: not counted yet.
  asked integer not null default 0,
  total integer,
  result jsonb,
  error jsonb,
  created_at timestamptz not null default clock_timestamp(),
  started_at timestamptz,
  finished_at timestamptz,
  next_look_at timestamptz,
  lease_until timestamptz,
  generation bigint not null default 0,
  constraint policy_replay_pk primary key (tenant_id, id),
  constraint policy_replay_created_by_fk foreign key (tenant_id, created_by) references tenant_user (tenant_id, id),
  constraint policy_replay_finished_at_ck check ((finished_at is not null) = (status in ('done', 'failed'))),
  constraint policy_replay_result_ck check ((result is not null) = (status = 'done')),
  constraint policy_replay_error_ck check ((error is not null) = (status = 'failed'))
);
create unique index policy_replay_one_uq on policy_replay (tenant_id) where finished_at is null;
create index policy_replay_created_by_ix on policy_replay (tenant_id, created_by);
create index policy_replay_due_ix on policy_replay (next_look_at) where next_look_at is not null;

alter table policy_replay enable row level security;
alter table policy_replay force row level security;
create policy tenant_wall on policy_replay
  using (tenant_id = nullif(current_setting('app.tenant_id', true), '')::uuid)
  with check (tenant_id = nullif(current_setting('app.tenant_id', true), '')::uuid);
grant select, insert, update, delete on policy_replay to sallyport_app;
create policy policy_replay_work on policy_replay to sallyport_work using (true) with check (true);
grant select (tenant_id, id, next_look_at, lease_until, generation) on policy_replay to sallyport_work;
grant update (lease_until, generation) on policy_replay to sallyport_work;

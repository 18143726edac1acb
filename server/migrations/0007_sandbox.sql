-- The sandbox: a pretend cloud for rehearsal and tests, kept as a real target would keep its own books.
create table sandbox_assignment (
  tenant_id uuid not null constraint sandbox_assignment_tenant_id_fk references tenant (id),
  key text not null,
  created_at timestamptz not null default clock_timestamp(),
  constraint sandbox_assignment_pk primary key (tenant_id, key)
);
alter table sandbox_assignment enable row level security;
alter table sandbox_assignment force row level security;
create policy tenant_wall on sandbox_assignment
  using (tenant_id = nullif(current_setting('app.tenant_id', true), '')::uuid)
  with check (tenant_id = nullif(current_setting('app.tenant_id', true), '')::uuid);
grant select, insert, delete on sandbox_assignment to sallyport_app;

create table sandbox_operation (
  tenant_id uuid not null constraint sandbox_operation_tenant_id_fk references tenant (id),
  id uuid not null,
  key text not null,
  kind text not null constraint sandbox_operation_kind_ck check (kind in ('create', 'delete')),
  polls_left integer not null,
  outcome text not null constraint sandbox_operation_outcome_ck check (outcome in ('SUCCEEDED', 'FAILED')),
  created_at timestamptz not null default clock_timestamp(),
  constraint sandbox_operation_pk primary key (tenant_id, id)
);
alter table sandbox_operation enable row level security;
alter table sandbox_operation force row level security;
create policy tenant_wall on sandbox_operation
  using (tenant_id = nullif(current_setting('app.tenant_id', true), '')::uuid)
  with check (tenant_id = nullif(current_setting('app.tenant_id', true), '')::uuid);
grant select, insert, update, delete on sandbox_operation to sallyport_app;

-- How hostile the pretend cloud is to a tenant; without a row it is calm.
create table sandbox_weather (
  tenant_id uuid not null constraint sandbox_weather_tenant_id_fk references tenant (id),
  -- How many polls an act stays in progress.
  polls integer not null default 1,
  -- How many of the next acts end in FAILED, are throttled, meet a conflict, or answer and forget.
  failed integer not null default 0,
  throttled integer not null default 0,
  conflicting integer not null default 0,
  forgotten integer not null default 0,
  delay_ms integer not null default 0,
  constraint sandbox_weather_pk primary key (tenant_id)
);
alter table sandbox_weather enable row level security;
alter table sandbox_weather force row level security;
create policy tenant_wall on sandbox_weather
  using (tenant_id = nullif(current_setting('app.tenant_id', true), '')::uuid)
  with check (tenant_id = nullif(current_setting('app.tenant_id', true), '')::uuid);
grant select, insert, update on sandbox_weather to sallyport_app;

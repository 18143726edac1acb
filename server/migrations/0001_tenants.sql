-- A tenant: one organisation, walled off from every other.
--
-- The walls, the same on every table with tenant rows: row-level security enabled and forced, one policy for the
-- tenant that the transaction names in `app.tenant_id` (unset: no rows, no writes), composite keys that carry tenant_id.
-- What must be found across tenants is found by `sallyport_work`, through a policy of its own and on the columns
-- granted here alone: it learns where work is waiting, never what it says.
create table tenant (
  id uuid constraint tenant_pk primary key,
  name text not null constraint tenant_name_ck check (char_length(name) between 1 and 200),
  -- Grows with every change of a policy or a rule: a decision names the version it was taken under.
  rule_set_version bigint not null default 1,
  created_at timestamptz not null default clock_timestamp()
);
alter table tenant enable row level security;
alter table tenant force row level security;
create policy tenant_wall on tenant
  using (id = nullif(current_setting('app.tenant_id', true), '')::uuid)
  with check (id = nullif(current_setting('app.tenant_id', true), '')::uuid);
grant select, insert on tenant to sallyport_app;
grant update (name, rule_set_version) on tenant to sallyport_app;
create policy tenant_work on tenant for select to sallyport_work using (true);
grant select (id) on tenant to sallyport_work;

create table setting (
  tenant_id uuid not null constraint setting_tenant_id_fk references tenant (id),
  key text not null,
  value text not null,
  updated_at timestamptz not null default clock_timestamp(),
  constraint setting_pk primary key (tenant_id, key)
);
alter table setting enable row level security;
alter table setting force row level security;
create policy tenant_wall on setting
  using (tenant_id = nullif(current_setting('app.tenant_id', true), '')::uuid)
  with check (tenant_id = nullif(current_setting('app.tenant_id', true), '')::uuid);
grant select, insert, update on setting to sallyport_app;

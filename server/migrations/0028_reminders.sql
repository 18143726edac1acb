-- Requests whose approvers are reminded while they wait: its own work list, a row for each, made with the request and gone
-- once it is seen not to wait any more.
create table reminder (
  tenant_id uuid not null constraint reminder_tenant_id_fk references tenant (id),
  -- The request's.
  id uuid not null,
  sent integer not null default 0 constraint reminder_sent_ck check (sent >= 0),
  next_look_at timestamptz not null,
  lease_until timestamptz,
  generation bigint not null default 0,
  constraint reminder_pk primary key (tenant_id, id),
  constraint reminder_id_fk foreign key (tenant_id, id) references access_request (tenant_id, id)
);
create index reminder_due_ix on reminder (next_look_at);

alter table reminder enable row level security;
alter table reminder force row level security;
create policy tenant_wall on reminder
  using (tenant_id = nullif(current_setting('app.tenant_id', true), '')::uuid)
  with check (tenant_id = nullif(current_setting('app.tenant_id', true), '')::uuid);
grant select, insert, update, delete on reminder to sallyport_app;
create policy reminder_work on reminder to sallyport_work using (true) with check (true);
grant select (tenant_id, id, next_look_at, lease_until, generation) on reminder to sallyport_work;
grant update (lease_until, generation) on reminder to sallyport_work;

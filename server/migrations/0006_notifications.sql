-- What each person is told: at most once for an event.
create table notification (
  tenant_id uuid not null constraint notification_tenant_id_fk references tenant (id),
  id uuid not null,
  user_id uuid not null,
  event_id uuid not null,
  event_type text not null,
  title text not null,
  body text not null,
  resource_type text,
  resource_id uuid,
  read_at timestamptz,
  created_at timestamptz not null default clock_timestamp(),
  constraint notification_pk primary key (tenant_id, id),
  constraint notification_event_id_uq unique (tenant_id, event_id, user_id),
  constraint notification_event_id_fk foreign key (tenant_id, event_id) references event (tenant_id, id),
  constraint notification_user_id_fk foreign key (tenant_id, user_id) references tenant_user (tenant_id, id)
);
create index notification_user_id_ix on notification (tenant_id, user_id, id);
alter table notification enable row level security;
alter table notification force row level security;
create policy tenant_wall on notification
  using (tenant_id = nullif(current_setting('app.tenant_id', true), '')::uuid)
  with check (tenant_id = nullif(current_setting('app.tenant_id', true), '')::uuid);
grant select, insert on notification to sallyport_app;
grant update (read_at) on notification to sallyport_app;

-- The event row is the audit entry is the outbox: written in the transaction of the change, never altered.
create table event (
  tenant_id uuid not null constraint event_tenant_id_fk references tenant (id),
  id uuid not null,
  -- Order of delivery: (xid, seq), and only below the oldest transaction still open, so that one which commits late
  -- is never passed over.
  xid xid8 not null default pg_current_xact_id(),
  seq bigint generated always as identity,
  type text not null,
  at timestamptz not null default clock_timestamp(),
  actor_kind text not null constraint event_actor_kind_ck check (actor_kind in ('user', 'api_key', 'operator', 'system')),
  actor_id uuid,
  api_key_id uuid,
  subject_type text not null,
  subject_id text not null,
  data jsonb not null default '{}',
  request_id text not null,
  constraint event_pk primary key (tenant_id, id)
);
create index event_delivery_ix on event (xid, seq);
create index event_tenant_ix on event (tenant_id, seq);
-- What auditors ask for: what happened to this, what has this person done, what of this kind.
create index event_subject_ix on event (tenant_id, subject_id, seq);
create index event_actor_ix on event (tenant_id, actor_id, seq);
create index event_type_ix on event (tenant_id, type, seq);
alter table event enable row level security;
alter table event force row level security;
create policy tenant_wall on event
  using (tenant_id = nullif(current_setting('app.tenant_id', true), '')::uuid)
  with check (tenant_id = nullif(current_setting('app.tenant_id', true), '')::uuid);
grant select, insert on event to sallyport_app;
create policy event_work on event for select to sallyport_work using (true);
grant select (tenant_id, id, type, xid, seq) on event to sallyport_work;

create function event_is_append_only() returns trigger language plpgsql as $$
begin
  raise exception 'events are never changed or deleted' using errcode = 'restrict_violation', constraint = 'event_append_only';
end
$$;
create trigger event_append_only before update or delete or truncate on event
  for each statement execute function event_is_append_only();

-- How far each subscriber has come; one process at a time holds it.
create table event_cursor (
  subscriber text constraint event_cursor_pk primary key,
  xid xid8 not null default '0',
  seq bigint not null default 0,
  lease_until timestamptz,
  generation bigint not null default 0
);
grant select, insert, update on event_cursor to sallyport_work;

-- An event that a subscriber failed on waits here, so that it delays nobody behind it.
create table event_parked (
  tenant_id uuid not null constraint event_parked_tenant_id_fk references tenant (id),
  subscriber text not null,
  event_id uuid not null,
  attempts integer not null default 1,
  next_look_at timestamptz not null,
  last_error text not null,
  constraint event_parked_pk primary key (tenant_id, event_id, subscriber),
  constraint event_parked_event_id_fk foreign key (tenant_id, event_id) references event (tenant_id, id)
);
create index event_parked_due_ix on event_parked (subscriber, next_look_at);
alter table event_parked enable row level security;
alter table event_parked force row level security;
create policy tenant_wall on event_parked
  using (tenant_id = nullif(current_setting('app.tenant_id', true), '')::uuid)
  with check (tenant_id = nullif(current_setting('app.tenant_id', true), '')::uuid);
grant select, insert, update, delete on event_parked to sallyport_app;
create policy event_parked_work on event_parked for select to sallyport_work using (true);
grant select (tenant_id, subscriber, event_id, next_look_at) on event_parked to sallyport_work;

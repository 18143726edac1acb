-- The events of one tenant that wait for one subscriber: the work list of the delivery of events. So the events of a tenant that
-- take long delay only that tenant's.
create table event_queue (
  tenant_id uuid not null constraint event_queue_tenant_id_fk references tenant (id),
  id uuid not null,
  subscriber text not null,
  -- The tenant's events are delivered up to here, in commit order, and are to be delivered up to `until`.
  xid xid8 not null,
  seq bigint not null,
  until_xid xid8 not null,
  until_seq bigint not null,
  next_look_at timestamptz,
  lease_until timestamptz,
  generation bigint not null default 0,
  constraint event_queue_pk primary key (tenant_id, id),
  constraint event_queue_subscriber_uq unique (tenant_id, subscriber)
);
create index event_queue_due_ix on event_queue (next_look_at) where next_look_at is not null;
create index event_queue_waiting_ix on event_queue (subscriber) where next_look_at is not null;

-- A parked event is retried from the queue of its tenant; each start of the service makes the queues of parked events due.
drop index event_parked_due_ix;
create index event_parked_due_ix on event_parked (subscriber, tenant_id, next_look_at);

alter table event_queue enable row level security;
alter table event_queue force row level security;
create policy tenant_wall on event_queue
  using (tenant_id = nullif(current_setting('app.tenant_id', true), '')::uuid)
  with check (tenant_id = nullif(current_setting('app.tenant_id', true), '')::uuid);
grant select, update on event_queue to sallyport_app;
create policy event_queue_work on event_queue to sallyport_work using (true) with check (true);
grant select, insert on event_queue to sallyport_work;
grant update (xid, seq, until_xid, until_seq, next_look_at, lease_until, generation) on event_queue to sallyport_work;

-- The lease of a cursor stays for processes of an older version, which deliver events themselves, one tenant's after another's.

-- A user has a bounded number of pending requests: they are counted before another one is stored.
create index access_request_pending_ix on access_request (tenant_id, requester_id) where status = 'pending';

-- One tenant's events in commit order: for its queues, and for readers that follow the audit log.
create index event_commit_ix on event (tenant_id, xid, seq);

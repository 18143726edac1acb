-- What goes to one recipient of one channel, one after another: the work list of what leaves the house.
create table delivery_lane (
  tenant_id uuid not null constraint delivery_lane_tenant_id_fk references tenant (id),
  id uuid not null,
  -- Null once the channel is deleted: what is left of it goes in portions, not in the transaction that deletes.
  channel_id uuid,
  -- The channel's, which never changes: each type is a list of its own, so that a mail server that hangs holds up no webhook.
  channel_type text not null constraint delivery_lane_channel_type_ck check (channel_type in ('email', 'webhook')),
  -- An address of mail; empty for a webhook.
  recipient text not null,
  -- How often in a row the way to the recipient failed, which all that goes there waits for.
  failures integer not null default 0,
  next_look_at timestamptz,
  lease_until timestamptz,
  generation bigint not null default 0,
  constraint delivery_lane_pk primary key (tenant_id, id),
  constraint delivery_lane_recipient_uq unique (tenant_id, channel_id, recipient),
  constraint delivery_lane_channel_id_fk foreign key (tenant_id, channel_id)
    references notification_channel (tenant_id, id) on delete set null (channel_id)
);
create index delivery_lane_due_ix on delivery_lane (channel_type, next_look_at) where next_look_at is not null;
create index delivery_lane_held_up_ix on delivery_lane (channel_type) where failures > 0;
create index delivery_lane_deleted_ix on delivery_lane (tenant_id) where channel_id is null;

-- One event for one recipient of one channel: what was sent, what waits, and what people read about it.
create table delivery (
  tenant_id uuid not null constraint delivery_tenant_id_fk references tenant (id),
  id uuid not null,
  lane_id uuid not null,
  -- The lane's, for the list; it stays when the channel goes.
  channel_id uuid not null,
  event_id uuid not null,
  -- The event's place in the order of commits, which is the order in the lane.
  xid xid8 not null default pg_current_xact_id(),
  seq bigint not null,
  status text not null default 'pending'
    constraint delivery_status_ck check (status in ('pending', 'delivered', 'failed')),
  attempts integer not null default 0,
  -- How often somebody had it sent once more.
  resends integer not null default 0,
  last_error text,
  -- What the other side said when it took it.
  last_response text,
  created_at timestamptz not null default clock_timestamp(),
  attempted_at timestamptz,
  -- Not before; of a lane that waits, later.
  next_attempt_at timestamptz default clock_timestamp(),
  give_up_at timestamptz not null,
  finished_at timestamptz,
  constraint delivery_pk primary key (tenant_id, id),
  constraint delivery_event_id_uq unique (tenant_id, event_id, lane_id),
  constraint delivery_lane_id_fk foreign key (tenant_id, lane_id) references delivery_lane (tenant_id, id),
  constraint delivery_event_id_fk foreign key (tenant_id, event_id) references event (tenant_id, id),
  constraint delivery_finished_at_ck check ((finished_at is null) = (status = 'pending')),
  constraint delivery_next_attempt_at_ck check ((next_attempt_at is null) = (status <> 'pending'))
);
create index delivery_pending_ix on delivery (tenant_id, lane_id, xid, seq) where finished_at is null;
create index delivery_lane_ix on delivery (tenant_id, lane_id, finished_at);
create index delivery_list_ix on delivery (tenant_id, channel_id, seq, id);
create index delivery_status_ix on delivery (tenant_id, channel_id, status, seq, id);
create index delivery_waiting_ix on delivery (created_at) where finished_at is null;

alter table delivery_lane enable row level security;
alter table delivery_lane force row level security;
create policy tenant_wall on delivery_lane
  using (tenant_id = nullif(current_setting('app.tenant_id', true), '')::uuid)
  with check (tenant_id = nullif(current_setting('app.tenant_id', true), '')::uuid);
grant select, insert, update, delete on delivery_lane to sallyport_app;
create policy delivery_lane_work on delivery_lane to sallyport_work using (true) with check (true);
grant select (tenant_id, id, channel_type, failures, next_look_at, lease_until, generation) on delivery_lane to sallyport_work;
grant update (lease_until, generation) on delivery_lane to sallyport_work;

alter table delivery enable row level security;
alter table delivery force row level security;
create policy tenant_wall on delivery
  using (tenant_id = nullif(current_setting('app.tenant_id', true), '')::uuid)
  with check (tenant_id = nullif(current_setting('app.tenant_id', true), '')::uuid);
grant select, insert, update, delete on delivery to sallyport_app;
create policy delivery_work on delivery for select to sallyport_work using (true);
grant select (tenant_id, id, created_at, finished_at) on delivery to sallyport_work;

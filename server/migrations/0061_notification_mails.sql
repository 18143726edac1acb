-- Which notifications people have mailed to them: by kind, true or false, as they chose; a kind that is absent is as it is by default.
alter table tenant_user add column mail_choices jsonb not null default '{}'
  constraint tenant_user_mail_choices_ck check (jsonb_typeof(mail_choices) = 'object');

-- The mails of notifications to the person's own address. A mail has the id of its notification.
create table notification_mail (
  tenant_id uuid not null constraint notification_mail_tenant_id_fk references tenant (id),
  id uuid not null,
  user_id uuid not null,
  kind text not null,
  -- Urgent mails of a tenant go before its others.
  urgent boolean not null,
  state text not null default 'pending' constraint notification_mail_state_ck check (state in ('pending', 'sent', 'failed')),
  attempts integer not null default 0 constraint notification_mail_attempts_ck check (attempts >= 0),
  last_error text,
  created_at timestamptz not null default clock_timestamp(),
  sent_at timestamptz,
  next_look_at timestamptz default clock_timestamp(),
  constraint notification_mail_pk primary key (tenant_id, id),
  constraint notification_mail_waits_ck check ((state = 'pending') = (next_look_at is not null)),
  constraint notification_mail_sent_ck check ((state = 'sent') = (sent_at is not null)),
  constraint notification_mail_id_fk foreign key (tenant_id, id) references notification (tenant_id, id) on delete cascade,
  constraint notification_mail_user_id_fk foreign key (tenant_id, user_id) references tenant_user (tenant_id, id)
);
create index notification_mail_due_ix on notification_mail (tenant_id, urgent, next_look_at) where next_look_at is not null;
-- The mails of an hour are counted, and those that wait before another.
create index notification_mail_sent_ix on notification_mail (tenant_id, user_id, kind, sent_at) where sent_at is not null;
create index notification_mail_ahead_ix on notification_mail (tenant_id, user_id, kind, id) where next_look_at is not null;
create index notification_mail_user_id_ix on notification_mail (tenant_id, user_id);
alter table notification_mail enable row level security;
alter table notification_mail force row level security;
create policy tenant_wall on notification_mail
  using (tenant_id = nullif(current_setting('app.tenant_id', true), '')::uuid)
  with check (tenant_id = nullif(current_setting('app.tenant_id', true), '')::uuid);
grant select, insert, update on notification_mail to sallyport_app;

-- One row for each tenant that ever had such a mail: the work list. So no tenant's mails wait behind those of another.
create table notification_mail_queue (
  tenant_id uuid not null constraint notification_mail_queue_tenant_id_fk references tenant (id),
  id uuid not null default gen_random_uuid(),
  next_look_at timestamptz,
  lease_until timestamptz,
  generation bigint not null default 0,
  constraint notification_mail_queue_pk primary key (tenant_id, id),
  constraint notification_mail_queue_tenant_id_uq unique (tenant_id)
);
create index notification_mail_queue_due_ix on notification_mail_queue (next_look_at) where next_look_at is not null;
alter table notification_mail_queue enable row level security;
alter table notification_mail_queue force row level security;
create policy tenant_wall on notification_mail_queue
  using (tenant_id = nullif(current_setting('app.tenant_id', true), '')::uuid)
  with check (tenant_id = nullif(current_setting('app.tenant_id', true), '')::uuid);
grant select, insert, update on notification_mail_queue to sallyport_app;
create policy notification_mail_queue_work on notification_mail_queue to sallyport_work using (true) with check (true);
grant select (tenant_id, id, next_look_at, lease_until, generation) on notification_mail_queue to sallyport_work;
grant update (lease_until, generation) on notification_mail_queue to sallyport_work;

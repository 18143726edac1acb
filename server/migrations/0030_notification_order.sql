-- The order in which notifications are streamed, as that of events: (xid, seq), and only below the oldest transaction still
-- open. Their ids are made by many processes, and one that is smaller may be committed later.
alter table notification
  add column xid xid8 not null default pg_current_xact_id(),
  add column seq bigint generated always as identity;
create index notification_stream_ix on notification (tenant_id, user_id, xid, seq);
create index notification_xid_ix on notification (xid);
-- Whether there is something new for whom, across tenants: never what it says.
create policy notification_work on notification for select to sallyport_work using (true);
grant select (user_id, xid) on notification to sallyport_work;

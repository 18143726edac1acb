-- Runs beside code that knows 0084.
-- Events are partitioned by their ids: an id of version 7 begins with its moment, so the bounds of a quarter of a year are bounds of ids,
-- and what refers to an event goes on referring to it by its tenant and its id. The table as it was becomes the default partition, and no
-- row of it is copied: it holds the past, what an older version writes with random ids, and what comes in where there is no quarter.

-- Shorter than a search for deadlocks: this waits for writers that may themselves wait for it. It is tried again.
set local lock_timeout = '900ms';
lock table delivery, event_parked, notification in share row exclusive mode;
lock table event in access exclusive mode;

-- The lowest id of a moment: as `newId` makes them.
create function event_id_at(moment timestamptz) returns uuid language sql stable
  return (lpad(to_hex(floor(extract(epoch from moment) * 1000)::bigint), 12, '0') || '70008000000000000000')::uuid;

alter table delivery drop constraint delivery_event_id_fk;
alter table event_parked drop constraint event_parked_event_id_fk;
alter table notification drop constraint notification_event_id_fk;
alter table event rename to event_default;
drop policy event_work on event_default;
drop policy tenant_wall on event_default;
revoke all on event_default from sallyport_app;
revoke select (tenant_id, id, xid, seq, type, at) on event_default from sallyport_work;
drop trigger event_leaves on event_default;
drop trigger event_has_its_tenant on event_default;

-- Partitions have no identity columns before PostgreSQL 17: a sequence goes on from the last number.
create sequence event_seq as bigint;
do $$
declare
  last bigint;
  used boolean;
begin
  execute 'select last_value, is_called from ' || pg_get_serial_sequence('event_default', 'seq') into last, used;
  perform setval('event_seq', last, used);
end
$$;
alter table event_default alter column seq drop identity;
alter table event_default alter column seq set default nextval('event_seq');
grant usage on sequence event_seq to sallyport_app;

alter table event_default rename constraint event_pk to event_default_pk;
alter table event_default rename constraint event_tenant_id_fk to event_default_tenant_id_fk;
alter index event_actor_ix rename to event_default_actor_ix;
alter index event_at_ix rename to event_default_at_ix;
alter index event_commit_ix rename to event_default_commit_ix;
alter index event_delivery_ix rename to event_default_delivery_ix;
alter index event_subject_ix rename to event_default_subject_ix;
alter index event_tenant_ix rename to event_default_tenant_ix;
alter index event_type_ix rename to event_default_type_ix;

create table event (
  like event_default including defaults including constraints,
  constraint event_pk primary key (tenant_id, id),
  constraint event_tenant_id_fk foreign key (tenant_id) references tenant (id)
) partition by range (id);
alter sequence event_seq owned by event.seq;
create index event_actor_ix on event (tenant_id, actor_id, seq) where actor_id is not null;
create index event_at_ix on event (tenant_id, at, seq);
create index event_commit_ix on event (tenant_id, xid, seq);
create index event_delivery_ix on event (xid, seq);
create index event_subject_ix on event (tenant_id, subject_id, seq);
create index event_tenant_ix on event (tenant_id, seq);
create index event_type_ix on event (tenant_id, type, seq);
alter table event enable row level security;
alter table event force row level security;
create policy tenant_wall on event
  using (tenant_id = nullif(current_setting('app.tenant_id', true), '')::uuid)
  with check (tenant_id = nullif(current_setting('app.tenant_id', true), '')::uuid);
grant select, insert on event to sallyport_app;
create policy event_work on event for select to sallyport_work using (true);
grant select (tenant_id, id, xid, seq, type, at) on event to sallyport_work;
create trigger event_append_only before update or truncate on event
  for each statement execute function event_is_append_only();
create trigger event_has_its_tenant after insert on event for each row execute function event_has_its_tenant();
create trigger event_leaves before delete on event for each row
  execute function leaves_with_its_tenant('event_append_only', 'events are never changed or deleted');

-- Makes the quarters that are lacking: so many, from the quarter of `first` in UTC. Returns how many it made. Rows of such a quarter that the
-- default partition holds move into it. A row to which something refers cannot move once the foreign keys stand: then this fails with
-- `foreign_key_violation` before it has looked at more than that, and the default partition keeps the quarter. Only the owner of the tables
-- calls this.
create function add_event_quarters(first date, quarters integer) returns integer language plpgsql as $$
declare
  lacking date[];
  quarter date;
  name text;
  lowest uuid;
  above uuid;
  moving event_default[];
begin
  select array_agg(q.quarter order by q.quarter) into lacking
    from (select (date_trunc('quarter', first::timestamp) + make_interval(months => 3 * n))::date as quarter
      from generate_series(0, quarters - 1) n) q
    where to_regclass('public.event_' || to_char(q.quarter, 'YYYY"_q"Q')) is null;
  if lacking is null then return 0; end if;
  lowest := event_id_at(lacking[1]::timestamp at time zone 'UTC');
  above := event_id_at((lacking[cardinality(lacking)] + interval '3 months') at time zone 'UTC');
  lock table event, event_default in access exclusive mode;
  -- Forced row-level security would show the owner no row.
  alter table event_default no force row level security;
  -- Tenant by tenant, since the key begins with the tenant: a look at each, and none at the other rows.
  with recursive known (tenant_id) as (
      (select e.tenant_id from event_default e order by e.tenant_id limit 1)
      union all select (select e.tenant_id from event_default e where e.tenant_id > known.tenant_id
        order by e.tenant_id limit 1)
      from known where known.tenant_id is not null)
    select array_agg(stray.e) into moving from known cross join lateral (
      select e from event_default e where e.tenant_id = known.tenant_id and e.id >= lowest and e.id < above offset 0) stray;
  if moving is not null then
    alter table event_default disable trigger event_leaves;
    delete from event_default e using unnest(moving) m where e.tenant_id = m.tenant_id and e.id = m.id;
    alter table event_default enable trigger event_leaves;
  end if;
  alter table event_default force row level security;
  -- One look at the default partition for all of them. With this, attaching a quarter needs none of its own.
  execute format('alter table event_default add constraint event_default_ck check (id < %L or id >= %L)', lowest, above);
  foreach quarter in array lacking loop
    name := 'event_' || to_char(quarter, 'YYYY"_q"Q');
    lowest := event_id_at(quarter::timestamp at time zone 'UTC');
    above := event_id_at((quarter + interval '3 months') at time zone 'UTC');
    execute format('create table public.%I (like event including defaults including constraints)', name);
    execute format('insert into public.%I select m.* from unnest($1) m where m.id >= %L and m.id < %L', name, lowest, above)
      using moving;
    execute format('alter table public.%I enable row level security, force row level security', name);
    execute format('create trigger event_append_only before update or truncate on public.%I for each statement '
      'execute function event_is_append_only()', name);
    execute format('alter table event attach partition public.%I for values from (%L) to (%L)', name, lowest, above);
  end loop;
  alter table event_default drop constraint event_default_ck;
  return cardinality(lacking);
end
$$;
revoke execute on function add_event_quarters from public;

-- The default partition of nothing else: it is attached without a look at its rows.
alter table event attach partition event_default default;
-- From the next quarter on, or from this one where no event is recorded yet: of this one there may be many rows already. Before the foreign
-- keys, so that rows may move: of 9,000 random ids one lies in the next four quarters.
alter table event_default no force row level security;
do $$
declare
  first timestamp := now() at time zone 'UTC';
begin
  if exists (select from event_default) then first := first + interval '3 months'; end if;
  perform add_event_quarters(first::date, 4);
end
$$;
alter table event_default force row level security;

-- As they were. They held until now, under the locks above, so no row breaks them; 0086 says so to PostgreSQL while writing goes on.
alter table delivery add constraint delivery_event_id_fk foreign key (tenant_id, event_id) references event (tenant_id, id) not valid;
alter table event_parked add constraint event_parked_event_id_fk foreign key (tenant_id, event_id)
  references event (tenant_id, id) not valid;
alter table notification add constraint notification_event_id_fk foreign key (tenant_id, event_id)
  references event (tenant_id, id) not valid;

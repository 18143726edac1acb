-- Narrowing: the approver gave less time than was requested. Null: the requested time.
alter table access_request add column approved_duration_seconds integer;
alter table access_request add constraint access_request_approved_duration_ck check (
  approved_duration_seconds is null
  or (approved_duration_seconds between 60 and duration_seconds - 1 and status = 'approved' and decided_by is not null));

-- Extending: the grant that the request makes last longer, and for how many seconds its holder has the access without a gap when that
-- grant ends. Without a foreign key: a grant refers to its request, and two tables that refer to each other cannot be restored.
alter table access_request add column extends uuid;
alter table access_request add column held_seconds integer;
alter table access_request add constraint access_request_extends_ck check (
  (extends is null) = (held_seconds is null) and held_seconds >= 0);
create index access_request_extends_ix on access_request (tenant_id, extends) where extends is not null;
create unique index access_request_extending_uq on access_request (tenant_id, extends)
  where extends is not null and status = 'pending';

create function access_request_extends() returns trigger language plpgsql as $$
begin
  raise exception 'what a request extends never changes'
    using errcode = 'restrict_violation', constraint = 'access_request_extends';
end
$$;
create trigger access_request_extends before update of extends, held_seconds on access_request for each row
  when (old.extends is distinct from new.extends or old.held_seconds is distinct from new.held_seconds)
  execute function access_request_extends();

-- starts_at: the end of the grant that this one extends; null: its time begins when it becomes active.
-- held_since: since when the holder has the access without a gap; null: since it became active.
-- by_person: a person decided a part of that time.
-- An entitlement has the last two as well, from its first grant on until the access is gone.
alter table access_grant add column starts_at timestamptz, add column held_since timestamptz,
  add column by_person boolean not null default false;
alter table entitlement add column held_since timestamptz, add column by_person boolean not null default false;

alter table access_request no force row level security;
alter table access_grant no force row level security;
alter table entitlement no force row level security;
-- A grant that failed may still be retried.
update access_grant g set by_person = true from access_request r
  where r.tenant_id = g.tenant_id and r.id = g.request_id and r.decided_by is not null
    and g.status in ('pending', 'active', 'failed');
update entitlement e set held_since = held.since, by_person = held.by_person
  from (select tenant_id, entitlement_id, min(activated_at) as since, bool_or(by_person) as by_person
      from access_grant where status = 'active' group by tenant_id, entitlement_id) held
  where e.tenant_id = held.tenant_id and e.id = held.entitlement_id;
update access_grant g set held_since = e.held_since, by_person = e.by_person from entitlement e
  where e.tenant_id = g.tenant_id and e.id = g.entitlement_id and g.status = 'active'
    and (g.activated_at > e.held_since or g.by_person <> e.by_person);
alter table access_request force row level security;
alter table access_grant force row level security;
alter table entitlement force row level security;

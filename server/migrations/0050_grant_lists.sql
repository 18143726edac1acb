-- The words by which a grant is found: those of its resource and action. As `request_word`,
-- and as there without a foreign key.
create table grant_word (
  tenant_id uuid not null,
  grant_id uuid not null,
  word text collate "C" not null,
  constraint grant_word_pk primary key (tenant_id, grant_id, word)
);
create index grant_word_word_ix on grant_word (tenant_id, word, grant_id);

create function access_grant_words() returns trigger language plpgsql as $$
begin
  insert into grant_word (tenant_id, grant_id, word)
    select tenant_id, id, unnest(search_words(concat_ws(' ', resource_id, action))) from made;
  return null;
end
$$;
create trigger access_grant_words after insert on access_grant referencing new table as made
  for each statement execute function access_grant_words();

alter table access_grant no force row level security;
alter table entitlement no force row level security;
insert into grant_word (tenant_id, grant_id, word)
  select tenant_id, id, unnest(search_words(concat_ws(' ', resource_id, action))) from access_grant;

alter table grant_word enable row level security;
alter table grant_word force row level security;
create policy tenant_wall on grant_word
  using (tenant_id = nullif(current_setting('app.tenant_id', true), '')::uuid)
  with check (tenant_id = nullif(current_setting('app.tenant_id', true), '')::uuid);
grant select, insert on grant_word to sallyport_app;

-- Two facts of a grant's entitlement, kept with the grant so that an index can have them in the order of the list. The database keeps
-- them, so that every way to write an entitlement does: a deleted provisioner's grants are still found by its id.
--   served_by: the id of the provisioner, or `sandbox`; null until the grant is planned.
--   drifted: its access was removed by hand. It says nothing about a grant that has ended.
alter table access_grant add column served_by text, add column drifted boolean not null default false;

update access_grant g set served_by = coalesce(e.provisioner_id::text, e.provisioner),
    drifted = g.status = 'active' and coalesce(e.drift = 'removed', false)
  from entitlement e where e.tenant_id = g.tenant_id and e.id = g.entitlement_id;
alter table access_grant force row level security;
alter table entitlement force row level security;

create function access_grant_served() returns trigger language plpgsql as $$
begin
  new.served_by := (select coalesce(e.provisioner_id::text, e.provisioner) from entitlement e
    where e.tenant_id = new.tenant_id and e.id = new.entitlement_id);
  return new;
end
$$;
-- A restore inserts grants that know it.
create trigger access_grant_served_at_once before insert on access_grant for each row
  when (new.entitlement_id is not null and new.served_by is null) execute function access_grant_served();
create trigger access_grant_served before update of entitlement_id on access_grant for each row
  when (old.entitlement_id is distinct from new.entitlement_id) execute function access_grant_served();

-- INVARIANT: the entitlement is locked before its grants, as everywhere.
create function entitlement_served() returns trigger language plpgsql as $$
begin
  update access_grant g set served_by = new.provisioner_id::text
    where g.tenant_id = new.tenant_id and g.entitlement_id = new.id;
  return null;
end
$$;
create trigger entitlement_served after update of provisioner_id on entitlement for each row
  when (old.provisioner_id is distinct from new.provisioner_id and new.provisioner_id is not null)
  execute function entitlement_served();

create function entitlement_drifted() returns trigger language plpgsql as $$
begin
  update access_grant g set drifted = coalesce(new.drift = 'removed', false)
    where g.tenant_id = new.tenant_id and g.entitlement_id = new.id and g.status = 'active';
  return null;
end
$$;
create trigger entitlement_drifted after update of drift on entitlement for each row
  when (old.drift is distinct from new.drift) execute function entitlement_drifted();

-- Each filter of the list has an index in the order of the list, which ends in the moment of the creation and the id. A grant is updated
-- about eight times, and an update of an indexed column writes to each index whose condition the row meets. So these are few:
--   a request has its grants by `access_grant_place_uq`: at most 50, which are sorted;
--   those by the end hold active grants alone, by the holder too: a holder's page must not read the grants of others;
--   a grant that nobody ended, and one without drift, are in no index about that.
create index access_grant_created_at_ix on access_grant (tenant_id, created_at, id);
drop index access_grant_user_id_ix;
create index access_grant_user_id_ix on access_grant (tenant_id, user_id, created_at, id);
create index access_grant_resource_type_ix on access_grant (tenant_id, resource_type, created_at, id);
create index access_grant_resource_id_ix on access_grant (tenant_id, resource_id, created_at, id);
create index access_grant_action_ix on access_grant (tenant_id, action, created_at, id);
create index access_grant_served_by_ix on access_grant (tenant_id, served_by, created_at, id)
  where served_by is not null;
create index access_grant_drifted_ix on access_grant (tenant_id, created_at, id) where drifted and ended_at is null;
drop index access_grant_ended_by_ix;
create index access_grant_ended_by_ix on access_grant (tenant_id, ended_by) where ended_by is not null;

-- INVARIANT: only the list uses these, since their collation or condition is not that of other statements. Those about one entitlement
-- ask for its grants of a status. With statistics of an hour without such grants, PostgreSQL would expect none in the whole
-- tenant, and read all of that status for each entitlement.
create index access_grant_status_ix on access_grant (tenant_id, status collate "C", created_at, id);
create index access_grant_provisioning_status_ix on access_grant
  (tenant_id, provisioning_status collate "C", created_at, id);
create index access_grant_expires_at_ix on access_grant (tenant_id, expires_at, id)
  where ended_at is null and expires_at is not null;
create index access_grant_user_expires_at_ix on access_grant (tenant_id, user_id, expires_at, id)
  where ended_at is null and expires_at is not null;

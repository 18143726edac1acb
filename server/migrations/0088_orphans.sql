-- Runs beside code that knows 0087.

-- Access at a target that the ledger does not know, as the last sweep found it: a restore or a failover may have lost what gave it.
create table orphan (
  tenant_id uuid not null,
  -- That of its entitlement, where it has one.
  id uuid not null,
  provisioner_id uuid not null,
  target_key text not null,
  target jsonb not null,
  -- `ours`: it was given in an earlier epoch of this installation, provably. `unproven`: its mark does not prove that. `foreign_set`: by a
  -- permission set that Sallyport did not make, and so without a mark.
  origin text not null constraint orphan_origin_ck check (origin in ('ours', 'unproven', 'foreign_set')),
  epoch bigint,
  grant_id uuid,
  -- The set is tagged as one that only Sallyport assigns.
  exclusive boolean not null default false,
  first_seen_at timestamptz not null,
  listed_at timestamptz not null,
  -- A sweep found more than it may end: a person decides.
  held_back boolean not null default false,
  ending_since timestamptz,
  constraint orphan_pk primary key (tenant_id, id),
  constraint orphan_target_key_uq unique (tenant_id, provisioner_id, target_key),
  constraint orphan_provisioner_id_fk foreign key (tenant_id, provisioner_id)
    references provisioner (tenant_id, id) on delete cascade,
  constraint orphan_ours_ck check (origin = 'ours' or (epoch is null and ending_since is null and not held_back))
);
create index orphan_listed_ix on orphan (tenant_id, provisioner_id, (not exclusive), id);
alter table orphan enable row level security;
alter table orphan force row level security;
create policy tenant_wall on orphan
  using (tenant_id = nullif(current_setting('app.tenant_id', true), '')::uuid)
  with check (tenant_id = nullif(current_setting('app.tenant_id', true), '')::uuid);
grant select, insert, delete on orphan to sallyport_app;
grant update (target, origin, epoch, grant_id, exclusive, listed_at, held_back, ending_since) on orphan to sallyport_app;

-- The epoch in which a sweep last read all that its target holds. In a later one the target may hold what no row knows.
alter table sweep add column listed_epoch bigint not null default 0;
grant select (provisioner, provisioner_id, listed_epoch), insert (tenant_id, id, provisioner, provisioner_id, next_look_at),
  update (idle) on sweep to sallyport_work;

-- At the beginning of an epoch each target is swept that was there before, also where nothing is known to be held.
create policy provisioner_work on provisioner for select to sallyport_work using (true);
grant select (tenant_id, id, provisioner_type, enabled, created_at) on provisioner to sallyport_work;

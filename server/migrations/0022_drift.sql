-- What a target holds is compared with the ledger, again and again; and each grant says at which step it is, since when.

alter table entitlement
  -- The next look asks the target itself: a sweep saw there what does not agree with the ledger, or it may end too early.
  add column suspected boolean not null default false,
  -- What was found changed at the target by hand: `removed` is wanted and is not there, `added` is there and nobody wants it.
  add column drift text constraint entitlement_drift_ck check (drift in ('removed', 'added')),
  add column drifted_at timestamptz,
  -- When the act that last gave it said that it would end.
  add column given_until timestamptz,
  add constraint entitlement_drifted_at_ck check ((drift is null) = (drifted_at is null));
create index entitlement_drifted_ix on entitlement (drifted_at) where drift is not null;
grant select (drift, drifted_at) on entitlement to sallyport_work;

alter table access_grant
  -- Since when it is at its step; null: since before there were steps.
  add column step_since timestamptz,
  -- The target's own name for the act that brought it to its step.
  add column target_reference text,
  -- When people were told that its access is over and still there.
  add column alarmed_at timestamptz;
alter table access_grant alter column step_since set default clock_timestamp();

create function access_grant_steps() returns trigger language plpgsql as $$
begin
  new.step_since := clock_timestamp();
  return new;
end
$$;
create trigger access_grant_step before update on access_grant
  for each row when (old.status <> new.status or old.provisioning_status <> new.provisioning_status
    or (old.entitlement_id is null) <> (new.entitlement_id is null))
  execute function access_grant_steps();

-- The sweeps of a tenant, one for each of its provisioners and one for the sandbox of a tenant that has none: their own work list.
create table sweep (
  tenant_id uuid not null constraint sweep_tenant_id_fk references tenant (id),
  id uuid not null,
  provisioner text not null,
  provisioner_id uuid,
  -- The last one found nothing to watch. If the next does not either, there is none until something is given again.
  idle boolean not null default false,
  -- When the last one that came to its end began; before it, since when there is something to sweep.
  swept_at timestamptz not null default clock_timestamp(),
  failures integer not null default 0,
  last_error text,
  next_look_at timestamptz,
  lease_until timestamptz,
  generation bigint not null default 0,
  constraint sweep_pk primary key (tenant_id, id),
  constraint sweep_provisioner_id_uq unique nulls not distinct (tenant_id, provisioner_id),
  constraint sweep_provisioner_id_fk foreign key (tenant_id, provisioner_id)
    references provisioner (tenant_id, id) on delete cascade,
  constraint sweep_provisioner_id_ck check (provisioner_id is not null or provisioner = 'sandbox')
);
create index sweep_due_ix on sweep (next_look_at) where next_look_at is not null;
-- What is held already is swept from now on. The owner of the tables sees all tenants' rows while the wall is not forced.
alter table entitlement no force row level security;
insert into sweep (tenant_id, id, provisioner, provisioner_id, next_look_at)
  select tenant_id, gen_random_uuid(), min(provisioner), provisioner_id, clock_timestamp()
  from entitlement where provisioner_id is not null or provisioner = 'sandbox'
  group by tenant_id, provisioner_id;
alter table entitlement force row level security;

alter table sweep enable row level security;
alter table sweep force row level security;
create policy tenant_wall on sweep
  using (tenant_id = nullif(current_setting('app.tenant_id', true), '')::uuid)
  with check (tenant_id = nullif(current_setting('app.tenant_id', true), '')::uuid);
grant select, insert, update on sweep to sallyport_app;
create policy sweep_work on sweep to sallyport_work using (true) with check (true);
grant select (tenant_id, id, swept_at, next_look_at, lease_until, generation) on sweep to sallyport_work;
grant update (next_look_at, lease_until, generation) on sweep to sallyport_work;

-- The pretend cloud marks what we made, as a real one does by tags: a sweep lists that beside what it is asked for.
alter table sandbox_assignment add column marked boolean not null default false;

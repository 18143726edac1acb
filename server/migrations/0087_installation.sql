-- Runs beside code that knows 0086.

-- The installation whose data this is, and its epoch: a new one begins where the database may have lost what it knew. Targets keep both, so
-- that a copy of the database is told from the original.
create table installation (
  is_only boolean constraint installation_pk primary key default true constraint installation_is_only_ck check (is_only),
  id uuid not null default gen_random_uuid(),
  -- 0, and then the second in which it began, by the database's clock: each epoch is greater than those before it, also those that were lost.
  epoch bigint not null default 0,
  -- The epoch that the operator began by saying that this is the original.
  adopted_epoch bigint,
  -- Since when nothing is changed at targets, and why: until the operator says that this is the original.
  read_only_since timestamptz,
  read_only_reason text constraint installation_read_only_reason_ck check (read_only_reason in ('restored', 'moved')),
  -- The database in which the rows were last seen. Null: not seen yet, or the server does not say.
  system_identifier text,
  database_oid bigint,
  timeline text,
  constraint installation_read_only_ck check ((read_only_since is null) = (read_only_reason is null))
);
insert into installation default values;
grant select, update on installation to sallyport_app;
grant select (epoch, read_only_since) on installation to sallyport_work;

-- What a provisioner has written at its target: that this installation acts there. A provisioner that finds something else there does nothing.
create table target_claim (
  tenant_id uuid not null,
  provisioner_id uuid not null,
  -- Written at the target with each beat. The one before may still be there, if the write of this one did not arrive.
  token uuid not null,
  token_before uuid,
  -- In which it was last written.
  epoch bigint not null,
  beat_at timestamptz not null,
  held_since timestamptz not null default clock_timestamp(),
  -- What was found in place of it, and since when.
  contested_at timestamptz,
  holder jsonb,
  constraint target_claim_pk primary key (tenant_id, provisioner_id),
  constraint target_claim_provisioner_id_fk foreign key (tenant_id, provisioner_id)
    references provisioner (tenant_id, id) on delete cascade,
  constraint target_claim_holder_ck check ((contested_at is null) = (holder is null))
);
alter table target_claim enable row level security;
alter table target_claim force row level security;
create policy tenant_wall on target_claim
  using (tenant_id = nullif(current_setting('app.tenant_id', true), '')::uuid)
  with check (tenant_id = nullif(current_setting('app.tenant_id', true), '')::uuid);
create policy target_claim_work on target_claim for select to sallyport_work using (true);
create index target_claim_contested_ix on target_claim (tenant_id, provisioner_id) where contested_at is not null;
grant select, insert, update on target_claim to sallyport_app;
grant select (tenant_id, provisioner_id, contested_at) on target_claim to sallyport_work;

-- Secrets under keys that can be changed: each tenant's data keys, wrapped by a root key, which is not in the database.

-- The root keys under which something is wrapped here, by their fingerprints. The one used last is the one in use.
create table root_key (
  id text constraint root_key_pk primary key constraint root_key_id_ck check (id ~ '^[0-9a-f]{16}$'),
  used_since timestamptz not null default clock_timestamp()
);
grant select, insert, delete on root_key to sallyport_app;
grant update (used_since) on root_key to sallyport_app;

create table tenant_key (
  tenant_id uuid not null constraint tenant_key_tenant_id_fk references tenant (id),
  -- The highest seals; the others open what they sealed.
  version integer not null constraint tenant_key_version_ck check (version > 0),
  -- A root key is not forgotten while something is wrapped by it.
  root_key_id text not null constraint tenant_key_root_key_id_fk references root_key (id),
  wrapped_key text not null,
  created_at timestamptz not null default clock_timestamp(),
  constraint tenant_key_pk primary key (tenant_id, version)
);
create index tenant_key_root_key_id_ix on tenant_key (root_key_id);
alter table tenant_key enable row level security;
alter table tenant_key force row level security;
create policy tenant_wall on tenant_key
  using (tenant_id = nullif(current_setting('app.tenant_id', true), '')::uuid)
  with check (tenant_id = nullif(current_setting('app.tenant_id', true), '')::uuid);
grant select, insert, delete on tenant_key to sallyport_app;
grant update (root_key_id, wrapped_key) on tenant_key to sallyport_app;
-- How far a change of root keys has come is asked across tenants.
create policy tenant_key_work on tenant_key for select to sallyport_work using (true);
grant select (tenant_id, root_key_id) on tenant_key to sallyport_work;

alter table signing_key
  -- Null: sealed before root keys had names.
  add column root_key_id text constraint signing_key_root_key_id_fk references root_key (id),
  -- A new key is published a while before it signs, so that every process knows it by then.
  add column signs_from timestamptz not null default clock_timestamp(),
  -- When no token that it signed is live any more. Null: it has no successor.
  add column retires_at timestamptz;
-- Those that were there sign since they were made, and one behind the other: the newest signs.
update signing_key set signs_from = created_at;
create index signing_key_root_key_id_ix on signing_key (root_key_id);
grant update (sealed_private_jwk, root_key_id, retires_at), delete on signing_key to sallyport_app;

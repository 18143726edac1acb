-- The key from which a slug or a mail domain that names no tenant gets an id, and the span in which the moments of tenants' ids lie.
create table discovery_key (
  -- There is one row.
  id text not null default 'discovery' constraint discovery_key_id_ck check (id = 'discovery'),
  sealed_key text not null,
  root_key_id text not null constraint discovery_key_root_key_id_fk references root_key (id),
  ids_from timestamptz not null,
  ids_until timestamptz not null,
  constraint discovery_key_pk primary key (id),
  constraint discovery_key_ids_ck check (ids_from < ids_until)
);
create index discovery_key_root_key_id_ix on discovery_key (root_key_id);
grant select, insert on discovery_key to sallyport_app;
grant update (sealed_key, root_key_id) on discovery_key to sallyport_app;

-- Whether a tenant's own provider is enabled, for callers who know only the name of the tenant.
grant select (enabled) on sign_in_setting to sallyport_work;

-- The failed sign-ins at ids that are no tenant's, counted as those at tenants are: by all processes together.
create table unknown_sign_in_failure (
  account_hash bytea not null,
  failures integer not null default 1,
  began_at timestamptz not null default clock_timestamp(),
  constraint unknown_sign_in_failure_pk primary key (account_hash),
  constraint unknown_sign_in_failure_account_hash_ck check (octet_length(account_hash) = 32)
);
create index unknown_sign_in_failure_began_ix on unknown_sign_in_failure (began_at);
grant select, insert, delete on unknown_sign_in_failure to sallyport_app;
grant update (failures, began_at) on unknown_sign_in_failure to sallyport_app;

-- Failed sign-ins of an account, whether the tenant has such a user or not: every process counts the same, and nobody learns from it who
-- there is. An account is known by a hash, since what is typed as an address may be a password. Rows are cleared away by
-- those that come after them.
create table sign_in_failure (
  tenant_id uuid not null constraint sign_in_failure_tenant_id_fk references tenant (id),
  -- SHA-256 of the address as addresses are compared.
  account_hash bytea not null constraint sign_in_failure_account_hash_ck check (octet_length(account_hash) = 32),
  failures integer not null default 1,
  -- When the first of them was.
  began_at timestamptz not null default clock_timestamp(),
  constraint sign_in_failure_pk primary key (tenant_id, account_hash)
);
create index sign_in_failure_began_ix on sign_in_failure (tenant_id, began_at);
alter table sign_in_failure enable row level security;
alter table sign_in_failure force row level security;
create policy tenant_wall on sign_in_failure
  using (tenant_id = nullif(current_setting('app.tenant_id', true), '')::uuid)
  with check (tenant_id = nullif(current_setting('app.tenant_id', true), '')::uuid);
grant select, insert, delete, update (failures, began_at) on sign_in_failure to sallyport_app;

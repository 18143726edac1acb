-- A link by which the owner that the first start made gets a name, an address and a password of their own. Each new link replaces the one
-- before, so that one secret is valid at a time.
create table setup_link (
  tenant_id uuid not null,
  user_id uuid not null,
  secret_hash bytea not null constraint setup_link_secret_hash_ck check (octet_length(secret_hash) = 32),
  expires_at timestamptz not null default clock_timestamp() + interval '1 hour',
  constraint setup_link_pk primary key (tenant_id, user_id),
  constraint setup_link_user_id_fk foreign key (tenant_id, user_id) references tenant_user (tenant_id, id),
  constraint setup_link_tenant_id_fk foreign key (tenant_id) references tenant (id)
);
alter table setup_link enable row level security;
alter table setup_link force row level security;
create policy tenant_wall on setup_link
  using (tenant_id = nullif(current_setting('app.tenant_id', true), '')::uuid)
  with check (tenant_id = nullif(current_setting('app.tenant_id', true), '')::uuid);
grant select, insert, delete, update (secret_hash, expires_at) on setup_link to sallyport_app;

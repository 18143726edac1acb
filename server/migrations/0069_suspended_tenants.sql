-- The operator suspends a tenant, with a reason or without one. Null: the tenant is not suspended.
alter table tenant
  add column suspended_at timestamptz,
  add column suspended_reason text constraint tenant_suspended_reason_ck check (char_length(suspended_reason) between 1 and 500),
  add constraint tenant_suspended_ck check (suspended_reason is null or suspended_at is not null);
grant update (suspended_at, suspended_reason) on tenant to sallyport_app;

-- A suspension changes what the credentials of the tenant are worth, as going live does.
alter function tenant_went_live() rename to tenant_authority_changed;
drop trigger tenant_authority on tenant;
create trigger tenant_authority after update on tenant for each row
  when (old.mode <> new.mode or (old.suspended_at is null) <> (new.suspended_at is null))
  execute function tenant_authority_changed();

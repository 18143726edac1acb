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

-- The operator deletes a suspended tenant, as the owner of the tables. From this moment on the service no longer sees the tenant, and what
-- is otherwise never deleted may be.
alter table tenant
  add column deleting_since timestamptz,
  add constraint tenant_deleting_since_ck check (deleting_since is null or suspended_at is not null);
create policy tenant_being_deleted on tenant as restrictive to sallyport_app, sallyport_work
  using (deleting_since is null);

-- What is left of a deleted tenant. The service has no rights here. `deleted_at`: null while rows of the tenant are left.
create table deleted_tenant (
  id uuid constraint deleted_tenant_pk primary key,
  name text not null,
  slug text,
  begun_at timestamptz not null default clock_timestamp(),
  deleted_at timestamptz,
  -- Of the file that holds the tenant as it was.
  export_sha256 text not null constraint deleted_tenant_export_sha256_ck check (export_sha256 ~ '^[0-9a-f]{64}$'),
  deleted_rows bigint not null default 0
);

-- The one door through which rows leave that otherwise stay: they leave with their tenant. Its arguments are the constraint and the
-- sentence that stand before it for every other tenant, also for the owner of the tables.
create function leaves_with_its_tenant() returns trigger language plpgsql as $$
begin
  if exists (select from tenant t where t.id = old.tenant_id and t.deleting_since is not null) then
    return old;
  end if;
  raise exception '%', tg_argv[1] using errcode = 'restrict_violation', constraint = tg_argv[0];
end
$$;

drop trigger event_append_only on event;
create trigger event_append_only before update or truncate on event
  for each statement execute function event_is_append_only();
create trigger event_leaves before delete on event for each row
  execute function leaves_with_its_tenant('event_append_only', 'events are never changed or deleted');

drop trigger request_comment_stays on request_comment;
create trigger request_comment_stays before update or truncate on request_comment
  for each statement execute function request_comment_stays();
create trigger request_comment_leaves before delete on request_comment for each row
  execute function leaves_with_its_tenant('request_comment_stays', 'comments are never changed or deleted');

drop trigger role_system_fixed on role;
create trigger role_system_fixed before update on role for each row
  when (old.system) execute function system_role_is_fixed();
create trigger role_system_leaves before delete on role for each row
  when (old.system) execute function leaves_with_its_tenant('role_system_fixed', 'a system role is never changed or deleted');

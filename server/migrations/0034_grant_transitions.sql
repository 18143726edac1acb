-- The life cycle of a grant, in both of its columns: the steps of `grants/grant-transition.ts`. One that the table does not foresee is
-- counted and logged, also where its transaction is rolled back. Then it is refused, unless it ends access or takes it away.
create sequence unforeseen_grant_step;
grant usage, select on sequence unforeseen_grant_step to sallyport_app;
grant select on sequence unforeseen_grant_step to sallyport_work;

drop trigger access_grant_transition on access_grant;
drop function access_grant_moves();

create function access_grant_unforeseen() returns trigger language plpgsql as $$
begin
  perform nextval('unforeseen_grant_step');
  raise log 'sallyport: grant % of tenant % goes from %/% to %/%, which its life cycle does not foresee',
    old.id, old.tenant_id, old.status, old.provisioning_status, new.status, new.provisioning_status;
  if new.status in ('pending', 'active') or (old.status <> new.status and old.status not in ('pending', 'active')) then
    raise exception 'a grant does not go from %/% to %/%',
      old.status, old.provisioning_status, new.status, new.provisioning_status
      using errcode = 'restrict_violation', constraint = 'access_grant_transition';
  end if;
  return new;
end
$$;
create trigger access_grant_transition before update of status, provisioning_status on access_grant
  for each row when ((old.status, old.provisioning_status) <> (new.status, new.provisioning_status) and
    old.status || '/' || old.provisioning_status || ' ' || new.status || '/' || new.provisioning_status not in (
    'active/not_attempted expired/not_attempted',
    'active/not_attempted revoked/not_attempted',
    'active/successful expired/deprovisioning',
    'active/successful revoked/deprovisioning',
    'expired/deprovisioning expired/deprovisioned',
    'expired/deprovisioning expired/deprovisioning_failed',
    'expired/deprovisioning_failed expired/deprovisioned',
    'expired/deprovisioning_failed expired/deprovisioning_failed',
    'failed/deprovisioned pending/not_attempted',
    'failed/deprovisioning_failed failed/deprovisioned',
    'failed/deprovisioning_failed failed/deprovisioning_failed',
    'failed/deprovisioning_failed pending/not_attempted',
    'failed/failed failed/deprovisioning_failed',
    'failed/failed pending/not_attempted',
    'pending/attempting active/not_attempted',
    'pending/attempting active/successful',
    'pending/attempting failed/failed',
    'pending/attempting pending/attempting',
    'pending/attempting revoked/deprovisioning',
    'pending/not_attempted active/not_attempted',
    'pending/not_attempted active/successful',
    'pending/not_attempted failed/failed',
    'pending/not_attempted pending/attempting',
    'pending/not_attempted revoked/not_attempted',
    'revoked/deprovisioning revoked/deprovisioned',
    'revoked/deprovisioning revoked/deprovisioning_failed',
    'revoked/deprovisioning_failed revoked/deprovisioned',
    'revoked/deprovisioning_failed revoked/deprovisioning_failed'))
  execute function access_grant_unforeseen();

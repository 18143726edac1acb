-- Runs beside code that knows 0070.

-- While a tenant is deleted, nothing is recorded for it: the export, which was compared with its events before, would lack that. The
-- foreign key does not see to it, since its check finds the marked row, whatever policies hide. Names of triggers are the order in which
-- they fire: this one comes after that check, which has waited for a deletion that was just beginning.
create function event_has_its_tenant() returns trigger language plpgsql as $$
begin
  if not exists (select from tenant t where t.id = new.tenant_id and t.deleting_since is null) then
    raise exception 'the tenant is being deleted' using errcode = 'restrict_violation', constraint = 'event_has_its_tenant';
  end if;
  return null;
end
$$;
create trigger event_has_its_tenant after insert on event for each row execute function event_has_its_tenant();

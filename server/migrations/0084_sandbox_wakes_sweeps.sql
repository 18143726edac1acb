-- Runs beside code that knows 0082.
-- The sweep of a sandbox rests while the sandbox agrees with the ledger. Every change of what a sandbox holds, whoever makes it, ends the
-- rest here. A sweep that is not idle goes on by itself: it is followed by another one, which sees the change.
create function sandbox_wakes_sweep() returns trigger language plpgsql as $$
begin
  update sweep s set idle = false,
      next_look_at = coalesce(s.next_look_at, clock_timestamp() + interval '240 seconds' - random() * interval '30 seconds'),
      swept_at = case when s.next_look_at is null then clock_timestamp() else s.swept_at end
    from (
      select w.tenant_id, w.id from sweep w
      where w.tenant_id = any(array(select distinct c.tenant_id from changed c)) and w.provisioner = 'sandbox'
        and (w.idle or w.next_look_at is null)
      order by w.tenant_id, w.id for no key update) woken
    where s.tenant_id = woken.tenant_id and s.id = woken.id;
  return null;
end
$$;
create trigger sandbox_assignment_given after insert on sandbox_assignment referencing new table as changed
  for each statement execute function sandbox_wakes_sweep();
create trigger sandbox_assignment_changed after update on sandbox_assignment referencing new table as changed
  for each statement execute function sandbox_wakes_sweep();
create trigger sandbox_assignment_taken after delete on sandbox_assignment referencing old table as changed
  for each statement execute function sandbox_wakes_sweep();

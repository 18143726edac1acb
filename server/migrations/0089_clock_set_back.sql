-- Runs beside code that knows 0088.

-- By how many milliseconds the database's clock was set back in all, as the processes of the service saw by their own. Moments that wait are
-- moved as far, once for each such jump: the transaction that adds it here moves them.
alter table installation
  add column clock_back_ms bigint not null default 0 constraint installation_clock_back_ck check (clock_back_ms >= 0),
  add column clock_back_xid xid8,
  -- The ends of grants are moved after it, in parts.
  add column ends_to_move boolean not null default false;
grant select (clock_back_ms, clock_back_xid, ends_to_move), update (clock_back_ms, clock_back_xid, ends_to_move)
  on installation to sallyport_work;

create function clock_back_ms() returns bigint language sql stable as 'select i.clock_back_ms from installation i';

-- As of which setting of the clock the moments of a grant are counted. Less than that of the installation: they are to be moved.
alter table access_grant add column clock_back_ms bigint not null default 0;
alter table access_grant alter column clock_back_ms set default clock_back_ms();
grant select (clock_back_ms, status) on access_grant to sallyport_work;

grant update (next_look_at) on access_request, access_grant, entitlement, policy_replay, reminder, invitation_mail,
  notification_mail_queue, delivery_lane, claimed_groups, inventory_part, sync_run to sallyport_work;

-- Runs beside code that knows 0088.

-- clock_back_ms: by how many milliseconds the database's clock was set back in all, as the processes of the service saw by their own. The ends of
-- access move as far. clock_steady_ms: the latest moment that a process has read, milliseconds since 1970, and the total besides, so that it does
-- not go back with the clock.
alter table installation
  add column clock_back_ms bigint not null default 0 constraint installation_clock_back_ck check (clock_back_ms >= 0),
  add column clock_steady_ms bigint not null default 0,
  -- The ends are moved after the total, in parts.
  add column ends_to_move boolean not null default false;
grant select (clock_back_ms, clock_steady_ms, ends_to_move), update (clock_back_ms, clock_steady_ms, ends_to_move)
  on installation to sallyport_work;

create function clock_back_ms() returns bigint language sql stable as 'select i.clock_back_ms from installation i';

-- As of which total the moments of a grant are counted. Less than that of the installation: they are to be moved.
alter table access_grant add column clock_back_ms bigint not null default 0;
alter table access_grant alter column clock_back_ms set default clock_back_ms();
grant select (clock_back_ms, status, expires_at) on access_grant to sallyport_work;

grant update (next_look_at) on access_grant, entitlement, sync_run to sallyport_work;
grant select (may_land_until), update (may_land_until) on entitlement to sallyport_work;

-- From now on it stays until a check that was due after it has seen that the access is gone. Those that rest were checked.
update entitlement set may_land_until = null where may_land_until <= clock_timestamp() and next_look_at is null;

-- A tenant rehearses until it goes live, once. In rehearsal, what no provisioner serves is given in the sandbox.
alter table tenant
  add column mode text not null default 'rehearsal' constraint tenant_mode_ck check (mode in ('rehearsal', 'live')),
  add column live_since timestamptz,
  add constraint tenant_live_since_ck check ((mode = 'live') = (live_since is not null));
grant update (mode, live_since) on tenant to sallyport_app;

-- Tenants that give real access already are live. The owner of the tables sees all tenants' rows while row-level security is not forced.
alter table tenant no force row level security;
alter table provisioner no force row level security;
alter table served_resource no force row level security;
update tenant t set mode = 'live', live_since = clock_timestamp()
  where exists (select from provisioner p join served_resource s on s.tenant_id = p.tenant_id and s.provisioner_id = p.id
    where p.tenant_id = t.id and p.enabled and p.provisioner_type <> 'sandbox');
alter table served_resource force row level security;
alter table provisioner force row level security;
alter table tenant force row level security;

create function tenant_stays_live() returns trigger language plpgsql as $$
begin
  raise exception 'a live tenant does not go back' using errcode = 'check_violation', constraint = 'tenant_stays_live';
end
$$;
create trigger tenant_mode before update on tenant for each row
  when (old.mode = 'live' and new.mode <> 'live') execute function tenant_stays_live();

-- A sign-in that was enough in rehearsal may not be enough in a live tenant. The rows of a tenant have its id as `id`.
create function tenant_went_live() returns trigger language plpgsql as $$
begin
  perform pg_notify('sallyport_authority', new.id::text);
  return null;
end
$$;
create trigger tenant_authority after update on tenant for each row
  when (old.mode <> new.mode) execute function tenant_went_live();

-- How old a sign-in at the provider may be, in seconds. Null: any.
alter table sign_in_state add column max_age integer constraint sign_in_state_max_age_ck check (max_age >= 0);

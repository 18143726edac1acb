-- What takes access away is looked at before what gives it: the work list of entitlements is two lists.
-- `gives`: a pending grant waits for the next look. All others go first.
alter table entitlement add column gives boolean not null default false;
grant select (gives) on entitlement to sallyport_work;

-- In place of entitlement_due_ix. The version before finds its work without it, if slower.
create index entitlement_takes_due_ix on entitlement (next_look_at) where next_look_at is not null and not gives;
create index entitlement_gives_due_ix on entitlement (next_look_at) where next_look_at is not null and gives;
drop index entitlement_due_ix;

-- A call that gives failed and may have begun something all the same: it may land until then, and is looked for.
alter table entitlement add column may_land_until timestamptz;

-- Room beside each row for what a turn writes of it, so that most of it touches no index.
alter table entitlement set (fillfactor = 70);
alter table access_grant set (fillfactor = 80);

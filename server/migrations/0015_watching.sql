-- What operators watch is read across tenants by the poor role: states and moments, no content.
grant select (entitlement_id, provisioning_status, ended_at) on access_grant to sallyport_work;
grant select (failures) on entitlement to sallyport_work;
grant select (at) on event to sallyport_work;

-- Most events are the service's own, by no actor: they need no place in the index of who did what.
drop index event_actor_ix;
create index event_actor_ix on event (tenant_id, actor_id, seq) where actor_id is not null;

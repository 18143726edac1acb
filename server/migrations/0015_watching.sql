-- What operators watch is read across tenants by the poor role: states and moments, no content.
grant select (entitlement_id, provisioning_status, ended_at) on access_grant to sallyport_work;
grant select (failures) on entitlement to sallyport_work;
grant select (at) on event to sallyport_work;

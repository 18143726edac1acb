-- What a person decided, in the order of the list of requests: each filter of it has an index that ends so. Most requests of a tenant with
-- automatic approvals have no decider, and are left out. The foreign key to the decider looks up by it as well.
drop index access_request_decided_by_ix;
create index access_request_decided_by_ix on access_request (tenant_id, decided_by, created_at, id)
  where decided_by is not null;

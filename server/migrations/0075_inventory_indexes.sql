-- Runs beside code that knows 0073.
-- Outside a transaction: writes of accounts and users go on.

-- The accounts that an inventory found.
drop index concurrently if exists cloud_account_discovered_by_ix;
create index concurrently cloud_account_discovered_by_ix on cloud_account (tenant_id, discovered_by)
  where discovered_by is not null;

-- The user of an external id that a directory names.
drop index concurrently if exists tenant_user_external_id_ix;
create index concurrently tenant_user_external_id_ix on tenant_user (tenant_id, subject) where subject is not null;

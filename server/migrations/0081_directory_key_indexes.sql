-- Runs beside code that knows 0080.
-- Outside a transaction: directories go on writing.

-- The providers whose config a user wrote.
drop index concurrently if exists identity_provider_configured_by_ix;
create index concurrently identity_provider_configured_by_ix on identity_provider (tenant_id, configured_by)
  where configured_by is not null;

-- A user and a group by their id in the directory, and a user by their name there. Until a directory that was just read in is analyzed, each
-- index that begins with the provider seems to find one row, and PostgreSQL may read the whole directory for one user.
drop index concurrently if exists directory_user_external_id_ix;
create index concurrently directory_user_external_id_ix on directory_user (tenant_id, external_id)
  where external_id is not null;
drop index concurrently if exists directory_user_user_name_key_ix;
create index concurrently directory_user_user_name_key_ix on directory_user (tenant_id, user_name_key);
-- Those who name a user as their manager.
drop index concurrently if exists directory_user_manager_ix;
create index concurrently directory_user_manager_ix on directory_user (tenant_id, manager_key)
  where manager_key is not null;
drop index concurrently if exists directory_user_manager_key_ix;
drop index concurrently if exists directory_group_external_id_ix;
create index concurrently directory_group_external_id_ix on directory_group (tenant_id, external_id)
  where external_id is not null;

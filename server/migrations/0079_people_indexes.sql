-- Runs beside code that knows 0077.
-- Outside a transaction: writes of users and settings go on.

-- Whose manager somebody is, and whose facts they wrote: what a deletion of a user looks up.
drop index concurrently if exists tenant_user_manager_id_ix;
create index concurrently tenant_user_manager_id_ix on tenant_user (tenant_id, manager_id) where manager_id is not null;
drop index concurrently if exists tenant_user_facts_set_by_ix;
create index concurrently tenant_user_facts_set_by_ix on tenant_user (tenant_id, facts_set_by)
  where facts_set_by is not null;

-- The sign-in provider of a directory that is deleted.
drop index concurrently if exists sign_in_setting_identity_provider_id_ix;
create index concurrently sign_in_setting_identity_provider_id_ix on sign_in_setting (tenant_id, identity_provider_id)
  where identity_provider_id is not null;

-- No custom role has a system role's name: a reader of "Admin" means the system role. The service also refuses spellings that this does
-- not fold, such as one with a character without width. Lower case in the collation "C", because a Turkish one has another small I.
-- The owner of the tables sees all tenants' rows while row-level security is not forced.
alter table role no force row level security;
alter table event no force row level security;
with renamed as (
  update role set name = left(btrim(name), 191) || ' (custom)', version = version + 1, updated_at = clock_timestamp()
  where not system and lower(btrim(normalize(name, NFKC)) collate "C") in ('user', 'approver', 'admin', 'auditor')
  returning tenant_id, id)
-- As the service records a change of a name.
insert into event (tenant_id, id, type, actor_kind, subject_type, subject_id, data, request_id)
  select tenant_id, gen_random_uuid(), 'role.updated', 'system', 'role', id,
    '{"fields": ["name"], "scopes_added": [], "scopes_removed": []}', 'migration:0037_role_names'
  from renamed;
alter table event force row level security;
alter table role force row level security;
alter table role add constraint role_name_system_ck
  check (system or lower(btrim(normalize(name, NFKC)) collate "C") not in ('user', 'approver', 'admin', 'auditor'));

-- A short name of a tenant, unique among all tenants. A slug says which tenant it is to people who have no credential yet, so only the
-- operator sets it. Uniqueness holds across tenants whatever rows the writer can see.
alter table tenant add column slug text
  constraint tenant_slug_ck check (slug ~ '^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$')
  -- A text names a tenant by its slug or by its id, never by both.
  constraint tenant_slug_not_uuid_ck check (slug !~ '^[0-9a-f]{8}(-?[0-9a-f]{4}){4}[0-9a-f]{8}$')
  constraint tenant_slug_uq unique;
grant update (slug) on tenant to sallyport_app;
-- Which tenant has a slug is asked across tenants.
grant select (slug) on tenant to sallyport_work;

-- The number of a user's unread notifications costs the same however many the user has read.
create index notification_unread_ix on notification (tenant_id, user_id) where read_at is null;

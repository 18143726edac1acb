-- Tenants of before keep the values that they had by default: those of tenants made from now on are shorter and stricter.
alter table setting no force row level security;
alter table tenant no force row level security;
insert into setting (tenant_id, key, value)
  select t.id, former.key, former.value
  from tenant t, (values
    ('notifications.reminder_seconds', '3600'),
    ('requests.max_duration_seconds', '43200'),
    ('requests.pending_ttl_seconds', '86400'),
    ('requests.require_reason', 'false'),
    ('timezone.default', 'UTC')) former (key, value)
  on conflict do nothing;
alter table tenant force row level security;
alter table setting force row level security;

import type { ShownTenant, TenantRow } from '../tenants/shown-tenant-store.ts'

/** The rows of `tenant list`, with their headings. */
export function tenantTable(tenants: readonly TenantRow[]): string[][] {
  const rows = tenants.map((row) => [
    row.id,
    row.name,
    row.slug ?? '-',
    row.mode,
    row.suspended === null ? 'active' : 'suspended',
    row.owners.join(', '),
    String(row.users),
    row.created_at,
  ])
  return [['ID', 'NAME', 'SLUG', 'MODE', 'STATUS', 'OWNERS', 'USERS', 'CREATED'], ...rows]
}

/** The lines of `tenant show`. */
export function tenantLines(tenant: ShownTenant): string[][] {
  const { suspended, last_event } = tenant
  const why = suspended?.reason == null ? '' : `: ${suspended.reason}`
  return [
    ['id', tenant.id],
    ['name', tenant.name],
    ['slug', tenant.slug ?? '-'],
    ['mode', tenant.live_since === null ? tenant.mode : `${tenant.mode} since ${tenant.live_since}`],
    ['status', suspended === null ? 'active' : `suspended since ${suspended.since}${why}`],
    ['mail domains', tenant.mail_domains.join(', ') || '-'],
    ['owners', tenant.owners.join(', ') || '-'],
    ['users', `${tenant.users}, of them active ${tenant.active_users}`],
    ['pending requests', String(tenant.pending_requests)],
    ['live grants', `${tenant.live_grants}, of them at real targets ${tenant.real_grants}`],
    ['provisioners', String(tenant.provisioners)],
    ['last event', last_event === null ? '-' : `${last_event.type} at ${last_event.at}`],
    ['created', tenant.created_at],
  ]
}

import { type ConnectionTarget, connectAlone } from './client/connect.ts'
import { appRole } from './roles.ts'

/**
 * Checks tenant isolation for the service role: it owns nothing, bypasses nothing, and every table with tenant rows has
 * row-level security enabled and forced. Returns the faults as sentences; an empty list means none.
 */
export async function findIsolationFaults(service: ConnectionTarget): Promise<string[]> {
  const client = await connectAlone(service)
  try {
    const role = await client.query<{ name: string; rolsuper: boolean; rolbypassrls: boolean; owns: string | null }>(`
      select current_user as name, rolsuper, rolbypassrls,
        (select string_agg(relname, ', ') from pg_class where relowner = pg_roles.oid
          and relnamespace = 'public'::regnamespace and relkind in ('r', 'p', 'v', 'm')) as owns
      from pg_roles where rolname = current_user`)
    const tables = await client.query<{ name: string }>(`
      select c.relname as name from pg_class c
      where c.relnamespace = 'public'::regnamespace and c.relkind in ('r', 'p')
        and (c.relname = 'tenant' or exists (
          select from pg_attribute a where a.attrelid = c.oid and a.attname = 'tenant_id' and not a.attisdropped))
        and not (c.relrowsecurity and c.relforcerowsecurity)`)
    const faults = tables.rows.map((table) => `table \`${table.name}\` has no forced row-level security`)
    const [self] = role.rows
    if (self?.rolsuper)
      faults.push(`the role \`${self.name}\` is a superuser, to which row-level security does not apply`)
    if (self?.rolbypassrls) faults.push(`the role \`${self.name}\` bypasses row-level security`)
    if (self?.owns) faults.push(`the role \`${self.name}\` owns tables (${self.owns})`)
    if (self !== undefined && self.name !== appRole) {
      faults.push(`the service must connect as \`${appRole}\`, not as \`${self.name}\``)
    }
    return faults
  } finally {
    await client.end()
  }
}

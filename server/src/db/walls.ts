import { type ConnectionTarget, connectAlone } from './connect.ts'
import { appRole } from './roles.ts'

/** The tables that `sallyport_work` may look through across tenants, and nothing but their routing columns. */
export const workTables: Record<string, { select: string[]; update: string[] }> = {
  access_grant: {
    select: [
      ...['tenant_id', 'id', 'next_look_at', 'lease_until', 'generation'],
      ...['entitlement_id', 'provisioning_status', 'ended_at'],
    ],
    update: ['lease_until', 'generation'],
  },
  access_request: {
    select: ['tenant_id', 'id', 'next_look_at', 'lease_until', 'generation'],
    update: ['lease_until', 'generation'],
  },
  api_key: { select: ['tenant_id', 'id'], update: [] },
  delivery: { select: ['tenant_id', 'id', 'created_at', 'finished_at'], update: [] },
  delivery_lane: {
    select: ['tenant_id', 'id', 'channel_type', 'failures', 'next_look_at', 'lease_until', 'generation'],
    update: ['lease_until', 'generation'],
  },
  entitlement: {
    select: [
      'tenant_id',
      'id',
      'next_look_at',
      'lease_until',
      'generation',
      'failures',
      'gives',
      'drift',
      'drifted_at',
    ],
    update: ['lease_until', 'generation'],
  },
  event: { select: ['tenant_id', 'id', 'type', 'xid', 'seq', 'at'], update: [] },
  event_parked: { select: ['tenant_id', 'subscriber', 'event_id', 'next_look_at'], update: [] },
  notification: { select: ['user_id', 'xid'], update: [] },
  policy_replay: {
    select: ['tenant_id', 'id', 'next_look_at', 'lease_until', 'generation'],
    update: ['lease_until', 'generation'],
  },
  reminder: {
    select: ['tenant_id', 'id', 'next_look_at', 'lease_until', 'generation'],
    update: ['lease_until', 'generation'],
  },
  sweep: {
    select: ['tenant_id', 'id', 'swept_at', 'next_look_at', 'lease_until', 'generation'],
    update: ['next_look_at', 'lease_until', 'generation'],
  },
  tenant: { select: ['id'], update: [] },
  tenant_key: { select: ['tenant_id', 'root_key_id'], update: [] },
  tenant_user: { select: ['tenant_id', 'id', 'issuer', 'subject', 'link_key'], update: [] },
}

/**
 * Looks whether the walls between tenants stand for the role that serves: it owns nothing, bypasses nothing, and every
 * table with tenant rows has row-level security enabled and forced. Answers what is wrong, in sentences; empty is good.
 */
export async function findWallFaults(service: ConnectionTarget): Promise<string[]> {
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
    if (self?.rolsuper) faults.push(`the role \`${self.name}\` is a superuser, which row-level security does not hold`)
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

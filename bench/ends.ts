import { setTimeout as pause } from 'node:timers/promises'
import type { connectAlone } from '../server/src/db/client/connect.ts'
import { seedManyGrants } from '../server/test/support/many-grants.ts'

export type Database = Awaited<ReturnType<typeof connectAlone>>

/** Whether all grants that ended at an instant are gone at their target. */
export const allGone = `select not exists (select from access_grant where expires_at = $1::timestamptz
  and provisioning_status <> 'deprovisioned') as met`

/** p50, p90, p99, the maximum, and the count. */
export function spread(values: readonly number[]): string[] {
  return [...[0.5, 0.9, 0.99, 1].map((share) => quantile(values, share).toFixed(1)), String(values.length)]
}

/** The least value that this share of all values does not exceed. */
export function quantile(values: readonly number[], share: number): number {
  return values.toSorted((one, other) => one - other)[Math.ceil(values.length * share) - 1] ?? Number.NaN
}

/** The delay in milliseconds until each revocation reached the target, and until its end was verified there. */
export async function lateness(database: Database, instant: string): Promise<{ dispatched: number[]; gone: number[] }> {
  const ms = (moment: string) => `extract(epoch from ${moment} - g.expires_at)::float8 * 1000`
  const { rows } = await database.query<{ dispatched: number; gone: number }>(
    `select ${ms('min(o.created_at)')} as dispatched, ${ms('g.updated_at')} as gone
      from access_grant g join entitlement e on e.tenant_id = g.tenant_id and e.id = g.entitlement_id
      join sandbox_operation o on o.tenant_id = e.tenant_id and o.key = e.target_key and o.kind = 'delete'
      where g.expires_at = $1::timestamptz group by g.tenant_id, g.id`,
    [instant],
  )
  return { dispatched: rows.map((row) => row.dispatched), gone: rows.map((row) => row.gone) }
}

/**
 * Grants of the sandbox. Returns the instant at which all of them end: late enough to seed them and to measure the idle time
 * before.
 */
export async function seed(
  database: Database,
  { grants, seconds }: { grants: number; seconds: number },
  tenants: number,
): Promise<string> {
  const lead = 5 + grants / 1_000 + seconds
  const { rows } = await database.query<{ ends: string }>(
    `select (clock_timestamp() + make_interval(secs => $1))::text as ends`,
    [lead],
  )
  const ends = rows[0]?.ends ?? ''
  await seedManyGrants((text, values) => database.query(text, values), grants, tenants, ends)
  await database.query('vacuum analyze entitlement, access_grant, sandbox_assignment')
  const { rows: left } = await database.query<{ seconds: number }>(
    'select extract(epoch from $1::timestamptz - clock_timestamp())::float8 as seconds',
    [ends],
  )
  if ((left[0]?.seconds ?? 0) < seconds) throw new Error('this machine is too busy to seed the grants before they end')
  return ends
}

/** Queries the database until the condition is true. */
export async function until(database: Database, question: string, instant: string, everyMs: number): Promise<void> {
  for (let tries = 0; tries < 600_000 / everyMs; tries += 1) {
    const { rows } = await database.query<{ met: boolean }>(question, [instant])
    if (rows[0]?.met) return
    await pause(everyMs)
  }
  throw new Error('it did not come to an end')
}

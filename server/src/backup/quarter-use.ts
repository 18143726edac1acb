/** What a quarter's events are to each tenant, and what still needs them: read without a lock that stops the service's writing. */
import type { SingleConnection } from '../db/client/connect.ts'
import { notificationDays } from '../kernel/notification-days.ts'
import { type Quarter, requireDelivered, undelivered, within } from './quarter.ts'

/** What a tenant loses. `is_leaving`: its deletion has begun. */
export type Lost = { tenant_id: string; is_leaving: boolean; events: number; last_event_id: string }

type Use = Lost & { slug: string | null; waiting: string[]; deliveries: number; parked: number; notifications: number }

/** Notifications deleted in one transaction. */
const batch = 2_000

/** Tenants that a refusal names. */
const maxNamed = 5

/**
 * Deletes the notifications of the quarter that are kept no longer, then counts its events. `snapshot`: what the count saw.
 * @throws Error with a sentence where an event is still needed
 */
export async function inspectQuarter(
  client: SingleConnection,
  quarter: Quarter,
): Promise<{ lost: Lost[]; snapshot: string }> {
  const tenants = await listTenants(client, quarter)
  for (const tenant_id of tenants) await deleteExpired(client, tenant_id, quarter)
  const { uses, snapshot } = await readUses(client, tenants, quarter)
  const waiting = new Set(uses.flatMap((use) => use.waiting))
  if (waiting.size > 0) throw undelivered(quarter.quarter, [...waiting])
  const needing = uses.filter((use) => use.deliveries + use.parked + use.notifications > 0)
  if (needing.length > 0) throw stillNeeded(quarter.quarter, needing)
  return { lost: uses.filter(({ events }) => events > 0), snapshot }
}

/**
 * The tenants that have events of the quarter. Only without forced row-level security does the owner see rows of more than one tenant: for
 * these moments readers of the log wait, and the rollback puts it back.
 */
function listTenants(client: SingleConnection, quarter: Quarter): Promise<string[]> {
  return within(client, 'rollback', async () => {
    await client.query(`alter table ${quarter.partition} no force row level security`)
    await requireDelivered(client, quarter)
    // From tenant to tenant by the primary key: it does not read all rows.
    const { rows } = await client.query<{ tenant_id: string }>(
      `with recursive found as (
          (select tenant_id from ${quarter.partition} order by tenant_id limit 1)
          union all
          select (select e.tenant_id from ${quarter.partition} e
            where e.tenant_id > f.tenant_id order by e.tenant_id limit 1)
          from found f where f.tenant_id is not null)
        select tenant_id from found where tenant_id is not null`,
    )
    return rows.map(({ tenant_id }) => tenant_id)
  })
}

/** A tenant's new notifications delete its expired ones: one that gets none would keep them, and with them everyone's events. */
async function deleteExpired(client: SingleConnection, tenant_id: string, quarter: Quarter): Promise<void> {
  for (let count = batch; count === batch; ) {
    count = await within(client, 'commit', async () => {
      await enter(client, tenant_id)
      const deleted = await client.query(
        `delete from notification where tenant_id = $1 and id in (
          select id from notification where tenant_id = $1 and event_id >= $2 and event_id < $3
            and created_at < statement_timestamp() - make_interval(days => $4) limit $5)`,
        [tenant_id, quarter.lowest, quarter.above, notificationDays, batch],
      )
      return deleted.rowCount ?? 0
    })
  }
}

function readUses(
  client: SingleConnection,
  tenants: readonly string[],
  { lowest, above }: Quarter,
): Promise<{ uses: Use[]; snapshot: string }> {
  // By the table: its partitions have no policy. The bounds leave one of them.
  const events = 'event e where e.tenant_id = t.id and e.id >= $2 and e.id < $3'
  const count = (table: string) =>
    `(select count(*)::float8 from ${table} r where r.tenant_id = t.id and r.event_id >= $2 and r.event_id < $3)`
  const read = async () => {
    const taken = await client.query<{ snapshot: string }>('select pg_current_snapshot()::text as snapshot')
    const uses: Use[] = []
    for (const tenant_id of tenants) {
      await enter(client, tenant_id)
      const { rows } = await client.query<Use>(
        `select t.id as tenant_id, t.slug, t.deleting_since is not null as is_leaving,
            (select count(*)::float8 from ${events}) as events,
            (select e.id from ${events} order by e.xid desc, e.seq desc limit 1) as last_event_id,
            array(select q.subscriber from event_queue q where q.tenant_id = t.id and exists (
              select from ${events}
                and (e.xid, e.seq) > (q.xid, q.seq) and (e.xid, e.seq) <= (q.until_xid, q.until_seq))) as waiting,
            ${count('delivery')} as deliveries, ${count('event_parked')} as parked,
            ${count('notification')} as notifications
          from tenant t where t.id = $1`,
        [tenant_id, lowest, above],
      )
      uses.push(...rows)
    }
    return { uses, snapshot: taken.rows[0]?.snapshot ?? '' }
  }
  return within(client, 'rollback', read, 'begin isolation level repeatable read')
}

function enter(client: SingleConnection, tenant_id: string): Promise<unknown> {
  return client.query(`select set_config('app.tenant_id', $1, true)`, [tenant_id])
}

function stillNeeded(quarter: string, needing: readonly Use[]): Error {
  const named = needing.slice(0, maxNamed).map(({ slug, tenant_id, deliveries, parked, notifications }) => {
    const what = Object.entries({ deliveries, 'parked events': parked, notifications })
    const counts = what.filter(([, count]) => count > 0).map(([name, count]) => `${name} ${count}`)
    return `\`${slug ?? tenant_id}\` (${counts.join(', ')})`
  })
  const more = needing.length > maxNamed ? `, and of other tenants, ${needing.length - maxNamed}` : ''
  return new Error(`events of ${quarter} are still referred to, so all of them stay: of ${named.join(', ')}${more}`)
}

/**
 * Drops old events, as the role that owns the tables. INVARIANT: all of it is one transaction, in which each tenant that loses events gets an
 * event that says so.
 */
import { type ConnectionTarget, connectAlone, type SingleConnection } from '../db/client/connect.ts'
import { emit } from '../events/emit.ts'
import { operatorActor, type Tx } from '../kernel/context.ts'

/** What a tenant loses. */
type Lost = { tenant_id: string; events: number; last_event_id: string }

export type DroppedQuarter = { quarter: string; tenants: number; events: number }

/** How long a statement waits for a lock: as long, calls that write events wait behind it. */
const lockTimeout = '2s'
const lockNotAvailable = '55P03'

const referring = ['delivery', 'event_parked', 'notification'] as const

/**
 * Drops the events of one quarter of a year, such as `2027-q1`.
 * @throws Error with a sentence for a quarter that is not over, that has no partition, of which an event is still to be delivered, or to
 *   whose events something refers; then nothing was dropped
 */
export async function dropQuarter(owner: ConnectionTarget, quarter: string): Promise<DroppedQuarter> {
  if (!/^\d{4}-q[1-4]$/.test(quarter)) throw new Error(`\`${quarter}\` is no quarter; write it like 2027-q1`)
  const client = await connectAlone(owner)
  try {
    await client.query('begin')
    await client.query(`select set_config('lock_timeout', $1, true)`, [lockTimeout])
    const dropped = await dropWithin(client, quarter, `event_${quarter.replace('-', '_')}`)
    await client.query('commit')
    return dropped
  } catch (error) {
    await client.query('rollback').catch(() => undefined)
    if ((error as { code?: string }).code !== lockNotAvailable) throw error
    throw new Error('the service works on the events just now, or a backup is under way: run this again', {
      cause: error,
    })
  } finally {
    await client.end()
  }
}

async function dropWithin(client: SingleConnection, quarter: string, name: string): Promise<DroppedQuarter> {
  await requireOver(client, quarter, name)
  const partition = client.escapeIdentifier(name)
  // Forced row-level security would show the owner no row. The locks that this takes last until the end.
  const hidden = [...referring, 'event_queue']
  await client.query(`lock table event in access exclusive mode`)
  for (const table of [partition, ...hidden]) await client.query(`alter table ${table} no force row level security`)
  await requireUnused(client, quarter, partition)
  const { rows: lost } = await client.query<Lost>(
    `select distinct on (tenant_id) tenant_id, count(*) over (partition by tenant_id)::float8 as events,
      id as last_event_id from ${partition} order by tenant_id, xid desc, seq desc`,
  )
  for (const { tenant_id, events, last_event_id } of lost) {
    await client.query(`select set_config('app.tenant_id', $1, true)`, [tenant_id])
    const data = { quarter, events, last_event_id }
    const { text, values } = emit(
      { tx: { tenant_id } as Tx, actor: operatorActor, request_id: 'operator' },
      { type: 'tenant.events_dropped', subject_type: 'tenant', subject_id: tenant_id, data },
    )
    await client.query(text, [...values])
  }
  await client.query(`alter table event detach partition ${partition}`)
  await client.query(`drop table ${partition}`)
  for (const table of hidden) await client.query(`alter table ${table} force row level security`)
  return { quarter, tenants: lost.length, events: lost.reduce((sum, { events }) => sum + events, 0) }
}

async function requireOver(client: SingleConnection, quarter: string, name: string): Promise<void> {
  const { rows } = await client.query<{ is_over: boolean; exists: boolean }>(
    `select $1 < to_char(now() at time zone 'UTC', 'YYYY"-q"Q') as is_over,
      exists (select from pg_inherits
        where inhparent = 'event'::regclass and inhrelid = to_regclass('public.' || $2)) as exists`,
    [quarter, name],
  )
  const [found] = rows
  if (!found?.is_over) throw new Error(`the quarter ${quarter} is not over`)
  if (!found.exists) {
    throw new Error(
      `the quarter ${quarter} has no partition: its events were dropped before, or are kept with the earlier ones`,
    )
  }
}

async function requireUnused(client: SingleConnection, quarter: string, partition: string): Promise<void> {
  const { rows: waiting } = await client.query<{ subscriber: string }>(
    `select c.subscriber from event_cursor c
        where exists (select from ${partition} e where (e.xid, e.seq) > (c.xid, c.seq))
      union select q.subscriber from event_queue q
        where exists (select from ${partition} e where e.tenant_id = q.tenant_id
          and (e.xid, e.seq) > (q.xid, q.seq) and (e.xid, e.seq) <= (q.until_xid, q.until_seq))`,
  )
  if (waiting.length > 0) {
    const names = waiting.map(({ subscriber }) => subscriber).join(', ')
    throw new Error(`events of ${quarter} are not delivered yet to ${names}: start the service and wait`)
  }
  for (const table of referring) {
    const { rows } = await client.query(
      `select from ${table} r join ${partition} e on e.tenant_id = r.tenant_id and e.id = r.event_id limit 1`,
    )
    if (rows.length > 0) throw new Error(`rows of \`${table}\` refer to events of ${quarter}, so they stay`)
  }
}

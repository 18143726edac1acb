/**
 * Drops old events, as the role that owns the tables. INVARIANT: what drops them is one transaction, in which each tenant that loses events
 * gets an event that says so. Forced row-level security holds for the owner too, so what is of a tenant is read and written behind its wall.
 */
import { setTimeout as pause } from 'node:timers/promises'
import { type ConnectionTarget, connectAlone, type SingleConnection } from '../db/client/connect.ts'
import type { EventType } from '../events/catalogue.ts'
import { operatorActor } from '../kernel/context.ts'
import { lowestIdAt, newId } from '../kernel/id.ts'
import { lockWithin, type Quarter, requireDelivered, within } from './quarter.ts'
import { inspectQuarter, type Lost } from './quarter-use.ts'

export type DroppedQuarter = { quarter: string; tenants: number; events: number }

/** Each try waits at most half a second for its locks. */
const manyTries = { max: 5, pauseMs: 1_000 }

/** What another session has done since the rows were counted, so that they have to be counted again. */
const changed = '40001'
const retried: readonly (string | undefined)[] = [
  changed,
  '40P01', // a deadlock
  '55P03', // no lock in time
  '23001', // the deletion of a tenant has begun
]

/**
 * Drops the events of one quarter of a year, such as `2027-q1`. Notifications that are kept no longer and refer to them go first, also
 * where the drop is refused.
 * @throws Error with a sentence for a quarter that is not over, that has no partition, of which an event is still to be delivered, or to
 *   whose events something refers; then no event was dropped
 */
export async function dropQuarter(
  owner: ConnectionTarget,
  quarter: string,
  tries: { max: number; pauseMs: number } = manyTries,
): Promise<DroppedQuarter> {
  const dropped = quarterOf(quarter)
  const client = await connectAlone(owner)
  try {
    await requireOver(client, quarter)
    for (let attempt = 1; ; attempt++) {
      try {
        return await tryToDrop(client, dropped)
      } catch (error) {
        if (!retried.includes((error as { code?: string }).code)) throw error
        if (attempt >= tries.max) throw new Error(heldSentence, { cause: error })
        await pause(tries.pauseMs)
      }
    }
  } finally {
    await client.end()
  }
}

const heldSentence =
  'the service works on the events just now, or a backup or a vacuum of them is under way: run this again'

function quarterOf(quarter: string): Quarter {
  const [, year, number] = /^(\d{4})-q([1-4])$/.exec(quarter) ?? []
  if (year === undefined) throw new Error(`\`${quarter}\` is no quarter; write it like 2027-q1`)
  const idAtMonth = (month: number) => lowestIdAt(new Date(Date.UTC(Number(year), month, 1)))
  const first = (Number(number) - 1) * 3
  return { quarter, partition: partitionOf(quarter), lowest: idAtMonth(first), above: idAtMonth(first + 3) }
}

const partitionOf = (quarter: string) => `event_${quarter.replace('-', '_')}`

async function requireOver(client: SingleConnection, quarter: string): Promise<void> {
  const { rows } = await client.query<{ is_over: boolean; exists: boolean }>(
    `select $1 < to_char(now() at time zone 'UTC', 'YYYY"-q"Q') as is_over,
      exists (select from pg_inherits
        where inhparent = 'event'::regclass and inhrelid = to_regclass('public.' || $2)) as exists`,
    [quarter, partitionOf(quarter)],
  )
  const [found] = rows
  if (!found?.is_over) throw new Error(`the quarter ${quarter} is not over`)
  if (!found.exists) {
    throw new Error(
      `the quarter ${quarter} has no partition: its events were dropped before, or are kept with the earlier ones`,
    )
  }
}

/** All that takes long is done before the lock that stops the service's writing. */
async function tryToDrop(client: SingleConnection, dropped: Quarter): Promise<DroppedQuarter> {
  const { lost, snapshot } = await inspectQuarter(client, dropped)
  const records = lost.map((each) => recordOf(each, dropped))
  await within(client, 'commit', async () => {
    await client.query(`select set_config('app.dropping', $1, true)`, [JSON.stringify(records)])
    const { partition } = dropped
    // In the order of a call that inserts a row with a reference: its own table, then the event's.
    await lockWithin(client, [
      'delivery in share row exclusive mode',
      'event_parked in share row exclusive mode',
      'notification in share row exclusive mode',
      'only event in access exclusive mode',
      'event_default in access exclusive mode',
      `${partition} in access exclusive mode`,
    ])
    await client.query(`alter table ${partition} no force row level security`)
    await requireDelivered(client, dropped)
    await requireNoneSince(client, dropped, snapshot)
    await client.query(recordEach)
    // It looks for references behind the wall of no tenant, and finds none: those that there are were looked for above.
    await client.query(`alter table event detach partition ${partition}`)
    await client.query(`drop table ${partition}`)
  })
  return { quarter: dropped.quarter, tenants: lost.length, events: lost.reduce((sum, { events }) => sum + events, 0) }
}

/** Strays come in as long as the partition stands, where the clock of a process is slow. */
async function requireNoneSince(client: SingleConnection, { partition }: Quarter, snapshot: string): Promise<void> {
  const { rows } = await client.query(
    `select from ${partition}
      where xid >= pg_snapshot_xmin($1::pg_snapshot) and not pg_visible_in_snapshot(xid, $1::pg_snapshot) limit 1`,
    [snapshot],
  )
  if (rows.length > 0) throw Object.assign(new Error('an event came in since they were counted'), { code: changed })
}

/** A tenant whose deletion has begun gets no event: its log goes. */
function recordOf({ tenant_id, is_leaving, events, last_event_id }: Lost, { quarter, lowest, above }: Quarter) {
  const type: EventType = 'tenant.events_dropped'
  const data = { quarter, events, last_event_id }
  return { tenant_id, is_leaving, lowest, above, id: newId(), type, actor_kind: operatorActor.kind, data }
}

/** One round trip for all tenants. A reference that came in since they were counted is told by the next try. */
const recordEach = `
  do $$
  declare
    r record;
  begin
    for r in select * from jsonb_to_recordset(current_setting('app.dropping')::jsonb) as r (tenant_id uuid,
      is_leaving boolean, lowest uuid, above uuid, id uuid, type text, actor_kind text, data jsonb)
    loop
      perform set_config('app.tenant_id', r.tenant_id::text, true);
      if exists (select from delivery d
          where d.tenant_id = r.tenant_id and d.event_id >= r.lowest and d.event_id < r.above)
        or exists (select from event_parked p
          where p.tenant_id = r.tenant_id and p.event_id >= r.lowest and p.event_id < r.above)
        or exists (select from notification n
          where n.tenant_id = r.tenant_id and n.event_id >= r.lowest and n.event_id < r.above)
      then
        raise exception 'a reference came in' using errcode = 'serialization_failure';
      end if;
      insert into event (tenant_id, id, type, actor_kind, subject_type, subject_id, data, request_id)
        select r.tenant_id, r.id, r.type, r.actor_kind, 'tenant', r.tenant_id::text, r.data, 'operator'
        where not r.is_leaving;
    end loop;
    perform set_config('app.tenant_id', '', true);
  end
  $$`

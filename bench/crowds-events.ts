import { setTimeout as pause } from 'node:timers/promises'
import { inParts } from '../server/test/support/in-parts.ts'
import type { CrowdsTenant, Running } from './crowds-tenant.ts'
import type { Database } from './ends.ts'
import { callOnce } from './keyed-call.ts'
import { liveElsewhere } from './lives-stage.ts'

/** A place in the order of commits. */
type Place = { xid: string; seq: string }

/** Many events of a tenant. `from`: the place before the first. `isReleased`: the subscribers have been set before them. */
export type ManyEvents = { tenant_id: string; count: number; from: Place; isReleased: boolean }

/** The recipient of the channel that is notified of each of the events. */
export const logRecipient = 'log@log.example'

/** Life cycles that are over, with copies of their events, of which no subscriber was notified; and a channel that wants all of them. */
export async function addEvents(running: Running, tenant: CrowdsTenant, count: number): Promise<ManyEvents> {
  const { port, target, database } = running
  const { tenant_id, askers, owner } = tenant
  const channel = { name: 'Bench', to_addresses: [logRecipient] }
  await callOnce(port, owner, 'POST', '/v1/notification-channels/email', channel)
  // A channel is notified of what happens after its creation.
  await database.query(`update notification_channel set created_at = '2020-01-01' where tenant_id = $1`, [tenant_id])
  const from = await lastPlace(database)
  const lives = { lives: 24, atOnce: 4, perSecond: null, revoke: 'each', firstAccount: 300_000_000_000 } as const
  await liveElsewhere({ ...lives, port, database: target, askers })
  await untilDelivered(database)
  await forgetDelivered(database, tenant_id)
  await copyEvents(database, { tenant_id, count, from })
  return { tenant_id, count, from, isReleased: false }
}

/**
 * Copies the events after a place until there are `count`, each copy a minute older than the one before. All are in the first transaction
 * after the place, so that they are behind the cursors of the subscribers.
 */
async function copyEvents(
  database: Database,
  { tenant_id, count, from }: Omit<ManyEvents, 'isReleased'>,
): Promise<void> {
  await database.query(
    `create temp table original as
      select *, min(xid) over () as first_xid from event where tenant_id = $1 and (xid, seq) > ($2::xid8, $3::bigint)`,
    [tenant_id, from.xid, from.seq],
  )
  const { rows } = await database.query<{ count: number }>('select count(*)::int from original')
  await inParts(Math.ceil(count / (rows[0]?.count ?? 0)) - 1, (first, last) =>
    database.query(
      `insert into event (tenant_id, id, xid, type, at, actor_kind, actor_id, api_key_id, subject_type, subject_id,
          data, request_id)
        select tenant_id, gen_random_uuid(), first_xid, type, at - make_interval(mins => n), actor_kind, actor_id,
          api_key_id, subject_type, subject_id, data, request_id
        from original, generate_series($1::integer, $2::integer) n`,
      [first, last],
    ),
  )
  await database.query('drop table original')
}

/** Until no event waits for a subscriber. */
async function untilDelivered(database: Database): Promise<void> {
  for (;;) {
    const { rows } = await database.query<{ waits: boolean }>(
      `select exists (select from event e join event_cursor c on (e.xid, e.seq) > (c.xid, c.seq))
        or exists (select from event_queue where next_look_at is not null) as waits`,
    )
    if (rows[0]?.waits === false) return
    await pause(50)
  }
}

/** Deletes what followed from the events of a tenant: they are delivered again as if they never had been. The service waits meanwhile. */
async function forgetDelivered(database: Database, tenant_id: string): Promise<void> {
  const tables = ['notification', 'delivery', 'delivery_lane']
  await database.query('begin')
  await database.query(`lock table ${tables.join(', ')} in share row exclusive mode`)
  for (const table of tables) await database.query(`delete from ${table} where tenant_id = $1`, [tenant_id])
  await database.query('commit')
}

async function lastPlace(database: Database): Promise<Place> {
  const { rows } = await database.query<Place>(
    'select xid::text, seq::text from event order by event.xid desc, event.seq desc limit 1',
  )
  return rows[0] ?? { xid: '0', seq: '0' }
}

/**
 * Has the events wait for their subscribers again: all of them, the first time by the cursors of the subscribers, which are set before them,
 * and later by the queues of their tenant. If most still wait, nothing is changed.
 */
export async function releaseEvents(database: Database, events: ManyEvents): Promise<void> {
  const { tenant_id, count, from } = events
  if ((await waitingEvents(database, events)) > count / 2) return
  await forgetDelivered(database, tenant_id)
  const place = [from.xid, from.seq]
  if (events.isReleased) {
    await database.query(
      `update event_queue set xid = $2::xid8, seq = $3::bigint, next_look_at = clock_timestamp(), lease_until = null,
        generation = generation + 1 where tenant_id = $1`,
      [tenant_id, ...place],
    )
  } else {
    await database.query('update event_cursor set xid = $1::xid8, seq = $2::bigint, generation = generation + 1', place)
  }
  events.isReleased = true
}

/** How many of the events the subscriber `notifications` still has to be handed. */
export async function waitingEvents(database: Database, { tenant_id }: ManyEvents): Promise<number> {
  const { rows } = await database.query<{ count: number }>(
    `with place as materialized (
        -- The queue of a tenant that has none, or an empty one, is as far as the cursor.
        select coalesce(q.xid, c.xid) as xid, coalesce(q.seq, c.seq) as seq from event_cursor c
          left join event_queue q on q.tenant_id = $1 and q.subscriber = c.subscriber
            and (q.xid, q.seq) < (q.until_xid, q.until_seq)
          where c.subscriber = 'notifications')
      select count(*)::int from place, event e where e.tenant_id = $1 and (e.xid, e.seq) > (place.xid, place.seq)`,
    [tenant_id],
  )
  return rows[0]?.count ?? 0
}

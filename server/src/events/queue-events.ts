import { eventsSettledTo } from '../db/settled.ts'
import { sql } from '../db/sql.ts'
import type { Database } from '../db/transaction.ts'
import type { Statement } from '../kernel/context.ts'
import type { Subscriber } from './deliver.ts'

/** Events that one statement queues, at most. */
const batchSize = 1_000

/** `queued`: the queues that have new events. `isBehind`: there are more events to queue. */
export type Queued = { queued: number; isBehind: boolean }

/**
 * Puts the events since a subscriber's cursor into the queues of their tenants, and moves the cursor. It only says up to where
 * each queue reaches, so it takes the same short time whatever the events are and however long their delivery takes. One
 * statement: of two processes at the same moment, one does nothing.
 */
export async function queueEvents(database: Database, { name, on }: Omit<Subscriber, 'handle'>): Promise<Queued> {
  // Only what is final, so that events which commit late are still ahead of the cursor.
  const ahead = sql`select e.tenant_id, e.type, e.xid, e.seq from event e
    where (e.xid, e.seq) > (place.xid, place.seq) and e.xid < ${eventsSettledTo()}
    order by e.xid, e.seq limit ${batchSize}`
  const [, [answer]] = await database.work.write([
    sql`insert into event_cursor (subscriber) values (${name}) on conflict do nothing`,
    sql<{ events: number; queued: number }>`with place as materialized (
        -- The lease is that of a process of an older version, which delivers the events itself.
        select xid, seq from event_cursor where subscriber = ${name}
          and (lease_until is null or lease_until <= clock_timestamp()) for update skip locked),
      ahead as materialized (select e.* from place cross join lateral (${ahead}) e),
      queued as (
        insert into event_queue as q
          (tenant_id, id, subscriber, xid, seq, until_xid, until_seq, next_look_at)
        select distinct on (a.tenant_id) a.tenant_id, gen_random_uuid(), ${name}, place.xid, place.seq, a.xid, a.seq,
          clock_timestamp()
        from ahead a, place where a.type = any(${[...on]}::text[]) order by a.tenant_id, a.xid desc, a.seq desc
        on conflict (tenant_id, subscriber) do update set
          -- An empty queue skips the events since its last one: the subscriber wants none of them.
          xid = case when ${isEmpty} then excluded.xid else q.xid end,
          seq = case when ${isEmpty} then excluded.seq else q.seq end,
          until_xid = excluded.until_xid, until_seq = excluded.until_seq,
          next_look_at = least(q.next_look_at, excluded.next_look_at)
        returning 1),
      moved as (
        update event_cursor set xid = reached.xid, seq = reached.seq, generation = generation + 1
        from (select xid, seq from ahead order by xid desc, seq desc limit 1) reached where subscriber = ${name})
      select (select count(*)::int from ahead) as events, (select count(*)::int from queued) as queued`,
  ])
  const { events = 0, queued = 0 } = answer ?? {}
  return { queued, isBehind: events === batchSize }
}

/**
 * Makes the queues of parked events due when their events are. Call it at the start: a restored database has no queues, and a process
 * of an older version parks events without one.
 */
export function queueParked(): Statement {
  return sql`insert into event_queue as q
      (tenant_id, id, subscriber, xid, seq, until_xid, until_seq, next_look_at)
    select p.tenant_id, gen_random_uuid(), p.subscriber, c.xid, c.seq, c.xid, c.seq, min(p.next_look_at)
    from event_parked p join event_cursor c using (subscriber)
    group by p.tenant_id, p.subscriber, c.xid, c.seq order by p.tenant_id, p.subscriber
    on conflict (tenant_id, subscriber) do update set next_look_at = least(q.next_look_at, excluded.next_look_at)`
}

const isEmpty = sql`(q.xid, q.seq) >= (q.until_xid, q.until_seq)`

import { sql } from '../../src/db/sql.ts'
import type { Database } from '../../src/db/transaction.ts'
import { deliverQueued, type Subscriber } from '../../src/events/deliver.ts'
import { queueEvents } from '../../src/events/queue-events.ts'
import type { WorkItem } from '../../src/jobs/claim.ts'
import { systemActor } from '../../src/kernel/context.ts'
import { until } from './wait.ts'

type OnFailure = Parameters<typeof deliverQueued>[1]

/**
 * Delivers to one subscriber every event that is there when it is called. An event waits for all transactions that are open anywhere on the
 * server, those of other tests too: so this waits for them.
 */
export async function deliverAll(database: Database, subscriber: Subscriber, onFailure: OnFailure): Promise<void> {
  const [newest] = await database.work.read(
    sql<{ xid: string }>`select xid::text as xid from event order by event.xid desc, event.seq desc limit 1`,
  )
  await until('transactions older than the newest event have ended', async () => {
    const [row] = await database.work.read(sql<{ over: boolean }>`
      select ${newest?.xid ?? '0'}::xid8 < pg_snapshot_xmin(pg_current_snapshot()) as over`)
    return row?.over === true
  })
  await deliver(database, subscriber, onFailure)
}

/** Delivers to one subscriber what is due now, one queue after another, as the service's loops do at the same time. */
export async function deliver(database: Database, subscriber: Subscriber, onFailure: OnFailure): Promise<void> {
  while ((await queueEvents(database, subscriber)).isBehind);
  const delivery = deliverQueued([subscriber], onFailure)
  for (let due = await claimQueues(database, subscriber.name); due.length > 0; ) {
    for (const item of due) {
      const ctx = { tx: database.tenant(item.tenant_id), actor: systemActor, request_id: 'test' }
      await delivery.run(ctx, item)
    }
    due = await claimQueues(database, subscriber.name)
  }
}

async function claimQueues(database: Database, subscriber: string): Promise<WorkItem[]> {
  const [claimed] = await database.work.write([
    sql<WorkItem>`update event_queue set generation = generation + 1,
        lease_until = clock_timestamp() + interval '1 hour'
      where subscriber = ${subscriber} and next_look_at <= clock_timestamp()
        and (lease_until is null or lease_until <= clock_timestamp())
      returning tenant_id, id, generation::text`,
  ])
  return claimed
}

/** Whether some event still waits for a subscriber: in a queue, or for a queue. */
export const waitingFor = `
  select from event e join event_cursor c on c.subscriber = $1 where (e.xid, e.seq) > (c.xid, c.seq)
  union all select from event_queue where subscriber = $1 and next_look_at <= clock_timestamp() limit 1`

import type { Database } from './db/transaction.ts'
import { deliverQueued, type FailedDelivery, type Subscriber } from './events/deliver.ts'
import { queueEvents, queueParked } from './events/queue-events.ts'
import { spreadSweeps } from './grants/sweep-store.ts'
import { type Loop, startLoop, type Tick } from './jobs/loop.ts'
import { type DueWork, type FailedWork, startDueWork } from './jobs/work-list.ts'
import { throttledLog } from './kernel/throttled-log.ts'
import type { Log } from './log/log.ts'
import type { Metrics } from './metrics/metrics.ts'

/** The number of rows of one work list that a process has in flight at once. */
const workWidth = 16

/** While more revokes are due than are in flight, events are queued for subscribers at most once in this time. */
const betweenBatchesMs = 1_000

/** `following`: keeps what this process knows of its installation, and of the database's clock. */
type Acting = { works: readonly DueWork[]; subscribers: readonly Subscriber[]; following: readonly Tick[] }

/** Starts the loops of due work and of subscribers. `onActed` is called after a subscriber has handled events. */
export function startLoops(
  log: Log,
  { background, revocation }: { background: Database; revocation: Database },
  { works, subscribers, following }: Acting,
  metrics: Metrics | undefined,
  onActed: () => void,
): Loop[] {
  const onFault = throttledLog<unknown>(5_000, (err, keptBack) => {
    log.error({ err, keptBack }, 'background work failed; it is retried')
  })
  const onWorkFailure: FailedWork = (table, item, err) => {
    log.error({ err, table, tenant_id: item.tenant_id, id: item.id }, 'due work failed; it is retried')
    metrics?.count('sallyport_work_failures_total', { list: table })
  }
  // Completed rows have written events.
  const onDone = () => {
    for (const loop of deliveries) loop.wakeSoon()
  }
  const databases = { takes: revocation, others: background }
  const onFailure = (failed: FailedDelivery, err: unknown) => {
    log.error({ err, ...failed }, 'a subscriber failed on an event; it is retried')
    metrics?.count('sallyport_event_failures_total', { subscriber: failed.subscriber })
  }
  // Rows that subscribers wrote may be due at once.
  const acted = () => {
    onActed()
    due.wake()
  }
  const delivery = deliverQueued(
    subscribers.map((subscriber) => notifying(subscriber, acted)),
    onFailure,
  )
  const due = startDueWork(databases, [...works, delivery], workWidth, onFault, onWorkFailure, onDone)
  background.work.write([spreadSweeps(), queueParked()]).catch(onFault)
  const deliveries = subscribers.map((subscriber) => {
    let last = Number.NEGATIVE_INFINITY
    const tick = async () => {
      const early = last + betweenBatchesMs - performance.now()
      if (due.isBehind() && early > 0) return early
      last = performance.now()
      const { queued, isBehind } = await queueEvents(background, subscriber)
      if (queued > 0) due.wake()
      return isBehind ? 0 : Number.MAX_SAFE_INTEGER
    }
    return startLoop(tick, onFault)
  })
  return [due, ...deliveries, ...following.map((tick) => startLoop(tick, onFault))]
}

function notifying(subscriber: Subscriber, onActed: () => void): Subscriber {
  return {
    ...subscriber,
    async handle(ctx, events) {
      await subscriber.handle(ctx, events)
      onActed()
    },
  }
}

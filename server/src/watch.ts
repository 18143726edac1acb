import { setTimeout as pause } from 'node:timers/promises'
import type { Database } from './db/transaction.ts'
import { deliveryLoad } from './events/delivery-load.ts'
import { stuckRevokes } from './grants/stuck-revoke-store.ts'
import { dueLoad } from './jobs/due-load.ts'
import type { Metrics } from './metrics/metrics.ts'

/** However often somebody looks, the database is asked once in this time. */
const freshForMs = 1_000

/** A database that does not answer in this time counts as gone, so that a scrape always has its answer. */
const longestReadMs = 2_000

export type Watched = {
  metrics: Metrics
  /** For what only the database knows, across tenants. */
  database: Database
  /** The names of whoever acts on events. */
  subscribers: readonly string[]
  /** Requests that are being answered now. */
  underWay: () => number
}

/** Answers the reader of everything that operators watch: its text is there whether the database is or not. */
export function watch(watched: Watched): () => Promise<string> {
  let reading: Promise<boolean> | undefined
  let readAt = Number.NEGATIVE_INFINITY
  let isUp = false

  /** One at a time: scrapes that come while the database is asked wait for the same answer, as long as it may take. */
  const readAnew = () => {
    reading ??= readDatabase(watched)
      .catch(() => false)
      .then((answered) => {
        isUp = answered
        readAt = performance.now()
        reading = undefined
        if (!answered) forgetDatabase(watched.metrics)
        return answered
      })
    return reading
  }

  return async () => {
    const { metrics } = watched
    if (performance.now() - readAt >= freshForMs) {
      const giveUp = new AbortController()
      const tooLong = pause(longestReadMs, false, { signal: giveUp.signal }).catch(() => false)
      const answered = await Promise.race([readAnew(), tooLong])
      giveUp.abort()
      isUp = answered
      if (!answered) forgetDatabase(metrics)
    }
    metrics.set('sallyport_requests_under_way', {}, watched.underWay())
    metrics.set('sallyport_database_up', {}, isUp ? 1 : 0)
    return metrics.text()
  }
}

/** One trip, as the role that sees no content. */
async function readDatabase({ metrics, database, subscribers }: Watched): Promise<true> {
  const [lists, [revokes], deliveries] = await database.work.write([
    dueLoad(),
    stuckRevokes(),
    deliveryLoad(subscribers),
  ])
  for (const { list, due, oldest_seconds } of lists) {
    metrics.set('sallyport_due_work', { list }, due)
    metrics.set('sallyport_due_work_oldest_seconds', { list }, oldest_seconds)
  }
  metrics.set('sallyport_stuck_revokes', {}, revokes?.stuck ?? 0)
  metrics.set('sallyport_stuck_revokes_oldest_seconds', {}, revokes?.oldest_seconds ?? 0)
  for (const { subscriber, behind, lag_seconds, parked } of deliveries) {
    metrics.set('sallyport_events_behind', { subscriber }, behind)
    metrics.set('sallyport_event_lag_seconds', { subscriber }, lag_seconds)
    metrics.set('sallyport_events_parked', { subscriber }, parked)
  }
  return true
}

const knownByDatabase = [
  ...(['sallyport_due_work', 'sallyport_due_work_oldest_seconds'] as const),
  ...(['sallyport_stuck_revokes', 'sallyport_stuck_revokes_oldest_seconds'] as const),
  ...(['sallyport_events_behind', 'sallyport_event_lag_seconds', 'sallyport_events_parked'] as const),
]

function forgetDatabase(metrics: Metrics): void {
  for (const name of knownByDatabase) metrics.leaveOut(name)
}

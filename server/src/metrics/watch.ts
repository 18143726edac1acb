import type { Database } from '../db/transaction.ts'
import { deliveryLoad } from '../events/delivery-load.ts'
import { eventPartitions } from '../events/event-partitions.ts'
import { unforeseenSteps } from '../grants/grant-transition-store.ts'
import { stuckRevokes } from '../grants/stuck-revoke-store.ts'
import { driftLoad } from '../grants/sweep-store.ts'
import { targetsHeldBack } from '../installation/installation-store.ts'
import { dueLoad } from '../jobs/due-load.ts'
import { sharedCall } from '../kernel/shared-call.ts'
import { heldUpQueues, waitingDeliveries } from '../notification-channels/delivery/waiting-store.ts'
import type { PolicyEvaluator } from '../policy-engine/deciding/evaluate.ts'
import type { Metrics } from './metrics.ts'

/** The database is read at most once in this time, regardless of the number of scrapes. */
const freshForMs = 1_000

/** A database that does not answer in this time counts as down, so that a scrape always gets an answer. */
const maxReadMs = 2_000

export type Watched = {
  metrics: Metrics
  /** For the metrics read from the database, across tenants. */
  database: Database
  /** All connections of the process, by purpose. */
  pools: Record<string, Database>
  /** The names of the subscribers to events. */
  subscribers: readonly string[]
  /** Requests in flight. */
  underWay: () => number
  /** Open streams of notifications. */
  listening: () => number
  /** Whether changes of rights by other processes arrive at once. */
  followsChanges: () => boolean
  /** Whether the database takes writes. */
  isReady: () => boolean
  /** How fast the targets of each type take calls. */
  paces: () => Readonly<Record<string, { throttled: number; calls_per_second: number }>>
}

/** Returns a function that reads all metrics. Its text is available even if the database is down. */
export function watch(watched: Watched): () => Promise<string> {
  const { metrics } = watched
  let readAt = Number.NEGATIVE_INFINITY
  const onFailure = () => false
  const read = sharedCall(
    maxReadMs,
    async () => {
      await readDatabase(watched)
      readAt = performance.now()
      return true
    },
    onFailure,
  )
  return async () => {
    const isUp = performance.now() - readAt < freshForMs || (await read().catch(onFailure))
    if (!isUp) for (const name of knownByDatabase) metrics.leaveOut(name)
    metrics.set('sallyport_database_up', {}, isUp ? 1 : 0)
    metrics.set('sallyport_database_writable', {}, watched.isReady() ? 1 : 0)
    metrics.set('sallyport_requests_under_way', {}, watched.underWay())
    metrics.set('sallyport_streams_open', {}, watched.listening())
    metrics.set('sallyport_rights_heard', {}, watched.followsChanges() ? 1 : 0)
    setLoad(watched)
    setPaces(watched)
    return metrics.text()
  }
}

/** Counts the policy questions from now on. */
export function countQuestions(evaluator: PolicyEvaluator, metrics: Metrics): void {
  evaluator.onAnswer = (seconds, fault) => {
    metrics.observe('sallyport_policy_question_duration_seconds', {}, seconds)
    if (fault !== undefined) metrics.count('sallyport_policy_faults_total', {})
  }
}

/** One round trip, as the role that sees no content. */
async function readDatabase({ metrics, database, subscribers }: Watched): Promise<void> {
  const [lists, [revokes], [drift], [deliveries], [unforeseen], lanes, cursors, [partitions], [targets]] =
    await database.work.write([
      dueLoad(),
      stuckRevokes(),
      driftLoad(),
      waitingDeliveries(),
      unforeseenSteps(),
      heldUpQueues(),
      deliveryLoad(subscribers),
      eventPartitions(),
      targetsHeldBack(),
    ])
  for (const { list, due, oldest_seconds } of lists) {
    metrics.set('sallyport_due_work', { list }, due)
    metrics.set('sallyport_due_work_oldest_seconds', { list }, oldest_seconds)
  }
  metrics.set('sallyport_stuck_revokes', {}, revokes?.stuck ?? 0)
  metrics.set('sallyport_stuck_revokes_oldest_seconds', {}, revokes?.oldest_seconds ?? 0)
  metrics.set('sallyport_drifted', {}, drift?.drifted ?? 0)
  metrics.set('sallyport_oldest_sweep_seconds', {}, drift?.oldest_sweep_seconds ?? 0)
  metrics.set('sallyport_targets_read_only', {}, targets?.read_only ? 1 : 0)
  metrics.set('sallyport_targets_contested', {}, targets?.contested ?? 0)
  metrics.set('sallyport_unforeseen_grant_steps', {}, unforeseen?.steps ?? 0)
  metrics.set('sallyport_deliveries_waiting', {}, deliveries?.waiting ?? 0)
  metrics.set('sallyport_deliveries_waiting_oldest_seconds', {}, deliveries?.oldest_seconds ?? 0)
  for (const { channel_type, held_up } of lanes) {
    metrics.set('sallyport_delivery_lanes_held_up', { channel_type }, held_up)
  }
  metrics.set('sallyport_event_quarters_ahead', {}, partitions?.quarters_ahead ?? 0)
  metrics.set('sallyport_events_outside_quarters', {}, partitions?.outside ?? 0)
  for (const { subscriber, behind, lag_seconds, parked } of cursors) {
    metrics.set('sallyport_events_behind', { subscriber }, behind)
    metrics.set('sallyport_event_lag_seconds', { subscriber }, lag_seconds)
    metrics.set('sallyport_events_parked', { subscriber }, parked)
  }
}

function setLoad({ metrics, pools }: Watched): void {
  for (const [pool, database] of Object.entries(pools)) {
    const { open, busy, waiting, waited, waited_ms } = database.load()
    metrics.set('sallyport_database_connections', { pool }, open)
    metrics.set('sallyport_database_busy', { pool }, busy)
    metrics.set('sallyport_database_waiting', { pool }, waiting)
    metrics.countedTo('sallyport_database_waits_total', { pool }, waited)
    metrics.countedTo('sallyport_database_wait_seconds_total', { pool }, waited_ms / 1_000)
  }
}

function setPaces({ metrics, paces }: Watched): void {
  for (const [provisioner_type, { throttled, calls_per_second }] of Object.entries(paces())) {
    metrics.countedTo('sallyport_target_throttled_total', { provisioner_type }, throttled)
    metrics.set('sallyport_target_calls_per_second', { provisioner_type }, calls_per_second)
  }
}

const knownByDatabase = [
  ...(['sallyport_due_work', 'sallyport_due_work_oldest_seconds'] as const),
  ...(['sallyport_stuck_revokes', 'sallyport_stuck_revokes_oldest_seconds'] as const),
  'sallyport_unforeseen_grant_steps' as const,
  ...(['sallyport_drifted', 'sallyport_oldest_sweep_seconds'] as const),
  ...(['sallyport_targets_read_only', 'sallyport_targets_contested'] as const),
  ...(['sallyport_deliveries_waiting', 'sallyport_deliveries_waiting_oldest_seconds'] as const),
  'sallyport_delivery_lanes_held_up' as const,
  ...(['sallyport_events_behind', 'sallyport_event_lag_seconds', 'sallyport_events_parked'] as const),
  ...(['sallyport_event_quarters_ahead', 'sallyport_events_outside_quarters'] as const),
]

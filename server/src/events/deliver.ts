import { sql } from '../db/sql.ts'
import type { Database } from '../db/transaction.ts'
import { backoffDelays } from '../kernel/backoff.ts'
import { type Actor, type Statement, systemActor, type WorkCtx } from '../kernel/context.ts'
import type { EventType } from './catalogue.ts'

/** An event as a subscriber receives it. */
export type DeliveredEvent = {
  id: string
  type: EventType
  at: string
  actor_kind: Actor['kind']
  /** The user who caused it, directly or by an API key; null when the service or the operator did. */
  actor_id: string | null
  subject_type: string
  subject_id: string
  data: Record<string, unknown>
}

/**
 * A subscriber acts on events after their commit. `handle` receives consecutive events of one tenant. INVARIANT: it is
 * idempotent, because an event is delivered at least once, and again alone if it failed together with others.
 */
export type Subscriber = {
  /** Names its cursor: never change it once it has run. */
  name: string
  on: readonly EventType[]
  handle(ctx: WorkCtx, events: readonly DeliveredEvent[]): Promise<void>
}

type OnFailure = (subscriber: string, event_id: string, error: unknown) => void

type Position = { tenant_id: string; id: string; type: EventType; xid: string; seq: string }
type Cursor = { xid: string; seq: string; generation: string }

const batchSize = 400
const maxRunLength = 100
const lease = sql`clock_timestamp() + interval '20 seconds'`
/** A batch that takes longer is cut after its current run. Its progress is saved, and the rest is delivered in the next batch. */
const maxBatchMs = 10_000
/** A quarter of a lease. */
const usualRenewalMs = 5_000
/** Seconds until a parked event is retried, after one failure, two, and so on. */
const parkedSeconds = backoffDelays({ base: 1, max: 3_600 })

/**
 * Delivers the events since a subscriber's cursor to it, in commit order, and retries due parked events. Returns whether there is
 * more. One process at a time delivers to a subscriber; the others return false. The lease of the cursor is renewed until the
 * end: if another process took it each time, a run that takes longer than a lease would never end.
 */
export async function deliver(
  database: Database,
  subscriber: Subscriber,
  onFailure: OnFailure,
  renewalMs = usualRenewalMs,
): Promise<boolean> {
  const cursor = await claimCursor(database, subscriber.name)
  if (cursor === undefined) return false
  const renewal = setInterval(() => void holdCursor(database, subscriber.name, cursor), renewalMs)
  try {
    return await deliverBatch(database, subscriber, cursor, onFailure)
  } finally {
    clearInterval(renewal)
  }
}

async function deliverBatch(
  database: Database,
  subscriber: Subscriber,
  cursor: Cursor,
  onFailure: OnFailure,
): Promise<boolean> {
  const positions = await readPositions(database, cursor)
  const started = performance.now()
  let reached: Position | undefined
  for (const run of runsOfOneTenant(positions)) {
    if (performance.now() - started > maxBatchMs) break
    const subscribed = run.filter(({ type }) => subscriber.on.includes(type))
    if (subscribed.length > 0) await handOver(database, subscriber, subscribed, onFailure)
    reached = run.at(-1)
  }
  await retryParked(database, subscriber, onFailure)
  await saveCursor(database, subscriber.name, cursor, reached)
  return positions.length === batchSize || reached !== positions.at(-1)
}

async function claimCursor(database: Database, subscriber: string): Promise<Cursor | undefined> {
  const [, claimed] = await database.work.write([
    sql`insert into event_cursor (subscriber) values (${subscriber}) on conflict do nothing`,
    sql<Cursor>`update event_cursor
      set lease_until = ${lease}, generation = generation + 1
      where subscriber = ${subscriber} and (lease_until is null or lease_until <= clock_timestamp())
      returning xid::text, seq::text, generation::text`,
  ])
  return claimed[0]
}

/** After a failed renewal the next one may succeed. If the lease is lost, the next process begins where this one did. */
async function holdCursor(database: Database, subscriber: string, { generation }: Cursor): Promise<void> {
  const held = sql`update event_cursor set lease_until = ${lease}
    where subscriber = ${subscriber} and generation = ${generation}::bigint and lease_until is not null`
  await database.work.write([held]).catch(() => undefined)
}

/** Reads only below the oldest open transaction, so that events which commit late are still ahead of the cursor. */
function readPositions(database: Database, cursor: Cursor): Promise<Position[]> {
  return database.work.read(sql<Position>`select tenant_id, id, type, xid::text, seq::text from event
    where (xid, seq) > (${cursor.xid}::xid8, ${cursor.seq}::bigint) and xid < pg_snapshot_xmin(pg_current_snapshot())
    order by event.xid, event.seq limit ${batchSize}`)
}

/** Guarded by the generation: a process that lost the lease meanwhile moves nothing. */
async function saveCursor(database: Database, subscriber: string, cursor: Cursor, reached?: Position): Promise<void> {
  const { xid, seq } = reached ?? cursor
  await database.work.write([
    sql`update event_cursor set xid = ${xid}::xid8, seq = ${seq}::bigint, lease_until = null
      where subscriber = ${subscriber} and generation = ${cursor.generation}::bigint`,
  ])
}

/** Groups consecutive events of one tenant. The length of a run is limited, so that a batch can be cut between runs. */
function runsOfOneTenant(positions: readonly Position[]): Position[][] {
  const runs: Position[][] = []
  for (const position of positions) {
    const last = runs.at(-1)
    if (last !== undefined && last.length < maxRunLength && last[0]?.tenant_id === position.tenant_id)
      last.push(position)
    else runs.push([position])
  }
  return runs
}

type Where = { tenant_id: string; id: string }

/**
 * Hands events of one tenant to the subscriber. If they fail together, each is tried alone, and parked if it fails again.
 * Returns whether none failed.
 */
async function handOver(
  database: Database,
  subscriber: Subscriber,
  run: readonly Where[],
  onFailure: OnFailure,
): Promise<boolean> {
  const [first] = run
  if (first === undefined) return true
  const tx = database.tenant(first.tenant_id)
  try {
    const events = await tx.read(sql<DeliveredEvent>`select id, type, at, actor_kind, actor_id, subject_type,
        subject_id, data
      from event where tenant_id = ${first.tenant_id} and id = any(${run.map(({ id }) => id)}::uuid[])
      order by event.xid, event.seq`)
    await subscriber.handle({ tx, actor: systemActor, request_id: `event:${first.id}` }, events)
    return true
  } catch (error) {
    if (run.length > 1) {
      for (const one of run) await handOver(database, subscriber, [one], onFailure)
      return false
    }
    onFailure(subscriber.name, first.id, error)
    await tx.write([park(first.tenant_id, subscriber.name, first.id, error)])
    return false
  }
}

/** The wait doubles after each failure, up to an hour. */
function park(tenant_id: string, subscriber: string, event_id: string, error: unknown) {
  const last_error = error instanceof Error ? error.message : String(error)
  return sql`insert into event_parked (tenant_id, subscriber, event_id, next_look_at, last_error)
    values (${tenant_id}, ${subscriber}, ${event_id}, clock_timestamp() + ${waitAfter(sql`1`)}, ${last_error})
    on conflict (tenant_id, event_id, subscriber) do update set
      attempts = event_parked.attempts + 1, last_error = excluded.last_error,
      next_look_at = clock_timestamp() + ${waitAfter(sql`event_parked.attempts + 1`)}`
}

function waitAfter(failures: Statement): Statement {
  return sql`make_interval(secs => (${parkedSeconds}::float8[])[least(${failures}, ${parkedSeconds.length}::int)])`
}

async function retryParked(database: Database, subscriber: Subscriber, onFailure: OnFailure): Promise<void> {
  const due = await database.work.read(sql<{ tenant_id: string; id: string }>`select tenant_id, event_id as id
    from event_parked where subscriber = ${subscriber.name} and next_look_at <= clock_timestamp()
    order by next_look_at limit 20`)
  for (const where of due) {
    if (!(await handOver(database, subscriber, [where], onFailure))) continue
    await database.tenant(where.tenant_id).write([
      sql`delete from event_parked where tenant_id = ${where.tenant_id} and subscriber = ${subscriber.name}
        and event_id = ${where.id}`,
    ])
  }
}

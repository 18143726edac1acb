import { plannedOnce, sql } from '../db/sql.ts'
import type { WorkItem } from '../jobs/claim.ts'
import type { DueWork } from '../jobs/work-list.ts'
import { backoffDelays } from '../kernel/backoff.ts'
import type { Actor, Statement, Tx, WorkCtx } from '../kernel/context.ts'
import { giveWay } from '../kernel/give-way.ts'
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
  /** Names its cursor and its queues: never change it once it has run. */
  name: string
  on: readonly EventType[]
  handle(ctx: WorkCtx, events: readonly DeliveredEvent[]): Promise<void>
}

/** Which subscriber failed on which event of which tenant. */
export type FailedDelivery = { subscriber: string; tenant_id: string; event_id: string }
type OnFailure = (failed: FailedDelivery, error: unknown) => void

/** A place in the order of commits. */
type Position = { xid: string; seq: string }
type PlacedEvent = DeliveredEvent & Position
/** `run`: its first events that the subscriber wants; fewer than `runLength.first` are all that are queued. */
type Queue = { subscriber: string; until: Position; due_parked: string[]; run: PlacedEvent[] }

/** A turn ends after the events that are under way at this time. The rest waits for the next turn, behind other due queues. */
const maxTurnMs = 1_000
/**
 * The events handed over together: more, once the first were quick. Never fewer where they are slow: on a busy database a statement waits
 * long for each of its turns, so that fewer events in as many statements would only be later.
 */
const runLength = { first: 50, max: 100, quickMs: 100 }
/** Parked events retried in one turn, at most. */
const maxRetried = 20
/** Seconds until a parked event is retried, after one failure, two, and so on. */
const parkedSeconds = backoffDelays({ base: 1, max: 3_600 })

/**
 * Delivers the queued events of one tenant to one subscriber, in commit order, and retries its due parked events. A queue has
 * one holder at a time, so no event overtakes another of its tenant, and a tenant whose events take long delays only its own.
 */
export function deliverQueued(subscribers: readonly Subscriber[], onFailure: OnFailure): DueWork {
  const wanted = JSON.stringify(Object.fromEntries(subscribers.map(({ name, on }) => [name, on])))
  return {
    table: 'event_queue',
    isPrompt: true,
    async run(ctx, item) {
      const queue = await findQueue(ctx.tx, item, wanted)
      if (queue === undefined) return
      const subscriber = subscribers.find(({ name }) => name === queue.subscriber)
      if (subscriber === undefined) throw new Error(`there is no subscriber \`${queue.subscriber}\``)
      await retryParked(ctx, subscriber, queue.due_parked, onFailure)
      await takeTurn(ctx, item, subscriber, queue, onFailure)
    },
  }
}

async function takeTurn(
  ctx: WorkCtx,
  item: WorkItem,
  subscriber: Subscriber,
  { run: first, until }: Queue,
  onFailure: OnFailure,
): Promise<void> {
  const began = performance.now()
  let run = first
  let length = runLength.first
  let position: Position
  for (;;) {
    const since = performance.now()
    await handOver(ctx, subscriber, run.map(eventOf), onFailure)
    const isAll = run.length < length
    position = isAll ? until : (run.at(-1) ?? until)
    const now = performance.now()
    if (isAll || now - began > maxTurnMs) break
    if (now - since < runLength.quickMs) length = runLength.max
    const next = readRun(ctx.tx, subscriber, position, until, length)
    const [isHeldStill, nextRun] = await Promise.all([saveProgress(ctx.tx, item, position), next])
    if (!isHeldStill) return
    await giveWay(now - since)
    run = nextRun
  }
  await releaseQueue(ctx.tx, item, subscriber, position)
}

const eventColumns = sql`id, type, at, actor_kind, actor_id, subject_type, subject_id, data`

type QueueRow = Omit<Queue, 'run'> & (PlacedEvent | { [Key in keyof PlacedEvent]: null })

/** The queue with its first events: of the types in `wanted`, a JSON object by the name of the subscriber. */
async function findQueue(tx: Tx, { id, generation }: WorkItem, wanted: string): Promise<Queue | undefined> {
  const statement = sql<QueueRow>`with queue as materialized (
      select q.*, array(select jsonb_array_elements_text(${wanted}::jsonb -> q.subscriber)) as types,
        array(select p.event_id::text from event_parked p
          where p.tenant_id = q.tenant_id and p.subscriber = q.subscriber and p.next_look_at <= clock_timestamp()
          order by p.next_look_at limit ${maxRetried}) as due_parked
      from event_queue q
      where q.tenant_id = ${tx.tenant_id} and q.id = ${id} and q.generation = ${generation}::bigint)
    select queue.subscriber, queue.due_parked,
      jsonb_build_object('xid', queue.until_xid::text, 'seq', queue.until_seq::text) as until,
      next.id, type, at, actor_kind, actor_id, subject_type, subject_id, data, next.xid::text, next.seq::text
    from queue left join lateral (
      select event.* from event
      where event.tenant_id = ${tx.tenant_id} and event.type = any(queue.types)
        and (event.xid, event.seq) > (queue.xid, queue.seq)
        and (event.xid, event.seq) <= (queue.until_xid, queue.until_seq)
      order by event.xid, event.seq limit ${runLength.first}) next on true
    order by next.xid, next.seq`
  const rows = await tx.read(plannedOnce(statement))
  const [queue] = rows
  if (queue === undefined) return undefined
  const { subscriber, until, due_parked } = queue
  const run = rows.flatMap(({ subscriber: _, until: _until, due_parked: _parked, ...event }) =>
    event.id === null ? [] : [event],
  )
  return { subscriber, until, due_parked, run }
}

/** The next events that the subscriber wants; fewer than `length` are all that are queued. */
function readRun(tx: Tx, { on }: Subscriber, after: Position, until: Position, length: number): Promise<PlacedEvent[]> {
  const events = sql<PlacedEvent>`select ${eventColumns}, xid::text, seq::text from event
    where tenant_id = ${tx.tenant_id} and type = any(${[...on]}::text[])
      and (xid, seq) > (${after.xid}::xid8, ${after.seq}::bigint)
      and (xid, seq) <= (${until.xid}::xid8, ${until.seq}::bigint)
    order by event.xid, event.seq limit ${length}`
  return tx.read(plannedOnce(events))
}

function eventOf({ xid: _xid, seq: _seq, ...event }: PlacedEvent): DeliveredEvent {
  return event
}

/** Returns false where the lease was lost meanwhile: then another process delivers. */
async function saveProgress(tx: Tx, item: WorkItem, { xid, seq }: Position): Promise<boolean> {
  const [saved] = await tx.write([
    sql`update event_queue set xid = ${xid}::xid8, seq = ${seq}::bigint where ${isHeld(tx, item)} returning id`,
  ])
  return saved.length > 0
}

/** The queue is due again at once if more events are queued, and otherwise when the next parked event is. */
async function releaseQueue(tx: Tx, item: WorkItem, subscriber: Subscriber, { xid, seq }: Position): Promise<void> {
  const reached = sql`(${xid}::xid8, ${seq}::bigint)`
  await tx.write([
    sql`update event_queue set (xid, seq) = ${reached}, lease_until = null,
        next_look_at = case when ${reached} < (until_xid, until_seq) then clock_timestamp() else (
          select min(next_look_at) from event_parked
          where tenant_id = ${tx.tenant_id} and subscriber = ${subscriber.name}) end
      where ${isHeld(tx, item)}`,
  ])
}

function isHeld(tx: Tx, { id, generation }: WorkItem): Statement {
  return sql`tenant_id = ${tx.tenant_id} and id = ${id} and generation = ${generation}::bigint`
}

/**
 * Hands events to the subscriber. If they fail together, each half is tried, and so on: an event that fails alone is parked, in few tries.
 * Returns whether none failed.
 */
async function handOver(
  { tx, actor }: WorkCtx,
  subscriber: Subscriber,
  events: readonly DeliveredEvent[],
  onFailure: OnFailure,
): Promise<boolean> {
  const [first] = events
  if (first === undefined) return true
  try {
    await subscriber.handle({ tx, actor, request_id: `event:${first.id}` }, events)
    return true
  } catch (error) {
    if (events.length > 1) {
      const middle = Math.ceil(events.length / 2)
      for (const half of [events.slice(0, middle), events.slice(middle)])
        await handOver({ tx, actor, request_id: '' }, subscriber, half, onFailure)
      return false
    }
    onFailure({ subscriber: subscriber.name, tenant_id: tx.tenant_id, event_id: first.id }, error)
    await tx.write([park(tx.tenant_id, subscriber.name, first.id, error)])
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

async function retryParked(
  ctx: WorkCtx,
  subscriber: Subscriber,
  event_ids: readonly string[],
  onFailure: OnFailure,
): Promise<void> {
  const { tx } = ctx
  const began = performance.now()
  for (const id of event_ids) {
    if (performance.now() - began > maxTurnMs) return
    const event = await tx.read(sql<DeliveredEvent>`select ${eventColumns} from event
      where tenant_id = ${tx.tenant_id} and id = ${id}`)
    if (!(await handOver(ctx, subscriber, event, onFailure))) continue
    await tx.write([
      sql`delete from event_parked where tenant_id = ${tx.tenant_id} and subscriber = ${subscriber.name}
        and event_id = ${id}`,
    ])
  }
}

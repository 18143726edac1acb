import { sql } from '../../db/sql.ts'
import type { WorkItem } from '../../jobs/claim.ts'
import type { Statement, Tx, WorkCtx } from '../../kernel/context.ts'
import { maxTextLength } from '../../kernel/foreign-text.ts'
import type { SendOutcome } from '../../kernel/send-outcome.ts'
import type { DeliveredEvent, Delivery } from '../carrier.ts'
import type { NotificationChannel } from '../notification-channel.ts'
import { channelRecord, switchOff } from '../notification-channel-store.ts'
import { keptDays, waitMs } from './delivery.ts'

/** The rows of a queue that one run removes, or gives up together, at most. */
const maxAtOnce = 500

/** INVARIANT: every write of a run has this condition, so a worker that lost the queue writes nothing. It locks until the transaction ends. */
function ours(tx: Tx, item: WorkItem): Statement {
  return sql`exists (select from delivery_lane l where l.tenant_id = ${tx.tenant_id} and l.id = ${item.id}
    and l.generation = ${item.generation}::bigint for no key update)`
}

function inQueue(tx: Tx, item: WorkItem): Statement {
  return sql`tenant_id = ${tx.tenant_id} and lane_id = ${item.id}`
}

/** A delivery that is due. `is_over`: its deadline has passed, so it is given up. */
export type DueDelivery = Delivery & { attempts: number; last_error: string | null; is_over: boolean }

/** A recipient queue at the start of a run. */
export type OpenQueue = {
  recipient: string
  failures: number
  /** Undefined when it was deleted. `version`: the time of its last change. */
  channel: NotificationChannel | undefined
  version: string
  /** In the order of the events, at most the requested number. */
  due: DueDelivery[]
  /** Whether more deliveries are due. */
  more: boolean
}

/** Undefined when the queue was lost. */
export async function openQueue(tx: Tx, item: WorkItem, limit: number): Promise<OpenQueue | undefined> {
  type RecipientQueue = Pick<OpenQueue, 'recipient' | 'failures'>
  type Due = Omit<DueDelivery, 'event'> & Omit<DeliveredEvent, 'id'> & { event_id: string }
  const [[queue], [channel], rows] = await tx.write([
    sql<RecipientQueue>`select recipient, failures from delivery_lane
      where tenant_id = ${tx.tenant_id} and id = ${item.id} and generation = ${item.generation}::bigint`,
    sql<NotificationChannel & { version: string }>`select ${channelRecord}, updated_at::text as version
      from notification_channel where tenant_id = ${tx.tenant_id}
        and id = (select channel_id from delivery_lane where tenant_id = ${tx.tenant_id} and id = ${item.id})`,
    sql<Due>`select d.id, l.recipient, d.resends, d.attempts, d.last_error,
        d.give_up_at <= statement_timestamp() as is_over,
        e.id as event_id, e.type, e.at, e.actor_kind, e.actor_id, e.api_key_id, e.subject_type, e.subject_id, e.data,
        e.request_id
      from delivery d join delivery_lane l on l.tenant_id = d.tenant_id and l.id = d.lane_id
        join event e on e.tenant_id = d.tenant_id and e.id = d.event_id
      where d.tenant_id = ${tx.tenant_id} and d.lane_id = ${item.id} and d.finished_at is null
        and d.next_attempt_at <= statement_timestamp()
      order by d.xid, d.seq limit ${limit + 1}`,
  ])
  if (queue === undefined) return undefined
  const due = rows
    .slice(0, limit)
    .map(({ id, recipient, resends, attempts, last_error, is_over, event_id, ...event }) => ({
      ...{ id, recipient, resends, attempts, last_error, is_over },
      event: { id: event_id, ...event },
    }))
  const { version = '', ...shown } = channel ?? {}
  return { ...queue, channel: channel && (shown as NotificationChannel), version, due, more: rows.length > limit }
}

/** The channel is enabled, and unchanged since the run began. */
function isAsRead(tx: Tx, { channel, version }: OpenQueue): Statement {
  return sql`exists (select from notification_channel c where c.tenant_id = ${tx.tenant_id}
    and c.id = ${channel?.id ?? null} and c.enabled and c.updated_at = nullif(${version}, '')::timestamptz)`
}

/** The end of the last attempt, which is stored in the transaction that begins the next one. */
export type Ended = { delivery: DueDelivery; outcome: SendOutcome }

/**
 * Records the start of an attempt, and the end of the previous one. False when none may begin: the queue was lost, or its
 * channel changed since the run began.
 */
export async function beginAttempt(
  ctx: WorkCtx,
  item: WorkItem,
  queue: OpenQueue,
  ended: Ended | undefined,
  { id }: DueDelivery,
): Promise<boolean> {
  const { tx } = ctx
  const begun = sql<{ id: string }>`update delivery set attempts = attempts + 1, attempted_at = clock_timestamp()
    where tenant_id = ${tx.tenant_id} and id = ${id} and finished_at is null and ${ours(tx, item)}
      and ${isAsRead(tx, queue)}
    returning id`
  const answers = await tx.write([...endings(ctx, item, queue, ended), begun])
  return (answers.at(-1) ?? []).length > 0
}

/** The changes at the end of an attempt. */
export function endings(ctx: WorkCtx, item: WorkItem, queue: OpenQueue, ended: Ended | undefined): Statement[] {
  if (ended === undefined) return []
  const { outcome, delivery } = ended
  const { tx } = ctx
  const end = sql`update delivery set ${changeOf(outcome, delivery)}
    where tenant_id = ${tx.tenant_id} and id = ${delivery.id} and finished_at is null and ${ours(tx, item)}`
  if (outcome.kind !== 'gone' || queue.channel === undefined) return [end]
  return [end, switchOff(ctx, queue.channel, queue.version, ours(tx, item))]
}

function changeOf(outcome: SendOutcome, { attempts }: DueDelivery): Statement {
  if (outcome.kind === 'delivered') {
    const response = outcome.said?.slice(0, maxTextLength) ?? null
    return sql`status = 'delivered', finished_at = clock_timestamp(), next_attempt_at = null, last_error = null,
      last_response = ${response}`
  }
  const why = outcome.why.slice(0, maxTextLength)
  if (outcome.kind !== 'try_again') return failed(sql`${why}`)
  // When all deliveries are held up, the queue waits instead.
  const wait = outcome.holds_up === 'all' ? 0 : waitMs(attempts + 1, Math.random(), outcome.after_ms)
  return sql`last_error = ${why}, next_attempt_at = least(give_up_at, ${inMs(wait)})`
}

function failed(why: Statement): Statement {
  return sql`status = 'failed', finished_at = clock_timestamp(), next_attempt_at = null, last_error = ${why}`
}

function inMs(ms: number): Statement {
  return sql`clock_timestamp() + make_interval(secs => ${ms / 1000})`
}

/** Marks deliveries past their deadline as failed. */
export function giveUp(tx: Tx, item: WorkItem, late: readonly DueDelivery[]): Statement[] {
  if (late.length === 0) return []
  return [
    sql`update delivery set ${failed(sql`'its time was over' || coalesce('; the last attempt: ' || last_error, '')`)}
      where tenant_id = ${tx.tenant_id} and id = any(${late.map(({ id }) => id)}::uuid[]) and finished_at is null
        and ${ours(tx, item)}`,
  ]
}

/** Marks all waiting deliveries of the queue as failed, one batch at a time. */
export function giveUpAll(tx: Tx, item: WorkItem, why: string): Statement {
  return sql`update delivery set ${failed(sql`${why}`)}
    where tenant_id = ${tx.tenant_id} and id in (select id from delivery where ${inQueue(tx, item)}
      and finished_at is null
      order by xid, seq limit ${maxAtOnce}) and ${ours(tx, item)}`
}

/** The end of a run: consecutive `failures` to reach the recipient, and how long the queue waits after them. */
export type Closing = { failures: number; wait_ms: number; again: boolean }

/**
 * Ends a run. Removes expired deliveries, and the queue when it is empty; otherwise the queue is due with its next delivery.
 * INVARIANT: a separate first statement locks the queue. The run then sees all deliveries inserted before, and deliveries
 * inserted later make the queue due again.
 */
export async function closeQueue(
  ctx: WorkCtx,
  item: WorkItem,
  queue: OpenQueue,
  last: readonly Statement[],
  { failures, wait_ms, again }: Closing,
): Promise<void> {
  const { tx } = ctx
  const self = sql`l.tenant_id = ${tx.tenant_id} and l.id = ${item.id} and l.generation = ${item.generation}::bigint`
  const kept = sql`make_interval(days => ${keptDays})`
  const removable = queue.channel === undefined ? sql`true` : sql`finished_at < statement_timestamp() - ${kept}`
  await tx.write([
    sql`select from delivery_lane l where ${self} for no key update`,
    ...last,
    sql`delete from delivery where tenant_id = ${tx.tenant_id} and id in (select id from delivery
      where ${inQueue(tx, item)} and ${removable}
      order by finished_at limit ${maxAtOnce}) and ${ours(tx, item)}`,
    sql`delete from delivery_lane l where ${self}
      and not exists (select from delivery where ${inQueue(tx, item)})`,
    sql`update delivery_lane l set lease_until = null, failures = ${failures},
      next_look_at = case
        when ${failures} > 0 and ${isAsRead(tx, queue)} then ${inMs(wait_ms)}
        when ${again} then clock_timestamp()
        else greatest(clock_timestamp(), least(
          (select min(next_attempt_at) from delivery where ${inQueue(tx, item)} and finished_at is null),
          (select min(finished_at) from delivery where ${inQueue(tx, item)}) + ${kept})) end
      where ${self}`,
  ])
}

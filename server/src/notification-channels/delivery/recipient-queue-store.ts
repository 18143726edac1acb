import { sql } from '../../db/sql.ts'
import type { WorkItem } from '../../jobs/claim.ts'
import type { Statement, Tx, WorkCtx } from '../../kernel/context.ts'
import { maxTextLength } from '../../kernel/said-words.ts'
import type { DeliveredEvent, Delivery, Outcome } from '../carrier.ts'
import type { NotificationChannel } from '../notification-channel.ts'
import { channelRecord, switchOff } from '../notification-channel-store.ts'
import { keptDays, waitMs } from './delivery.ts'

/** How many rows of a lane are removed, or given up together, in one turn. */
const maxAtOnce = 500

/** INVARIANT: stands in each write of a turn: whoever lost the lane writes nothing. Held until the transaction ends. */
function ours(tx: Tx, item: WorkItem): Statement {
  return sql`exists (select from delivery_lane l where l.tenant_id = ${tx.tenant_id} and l.id = ${item.id}
    and l.generation = ${item.generation}::bigint for no key update)`
}

function inQueue(tx: Tx, item: WorkItem): Statement {
  return sql`tenant_id = ${tx.tenant_id} and lane_id = ${item.id}`
}

/** A delivery whose moment has come. `is_over`: so has the moment at which it is given up. */
export type DueDelivery = Delivery & { attempts: number; last_error: string | null; is_over: boolean }

/** A lane as its turn begins. */
export type OpenQueue = {
  recipient: string
  failures: number
  /** Undefined where it was deleted. `version`: when it was changed last. */
  channel: NotificationChannel | undefined
  version: string
  /** In the order of the events, at most so many as were asked for. */
  due: DueDelivery[]
  /** More are due than those. */
  more: boolean
}

/** Undefined where the lane was lost. */
export async function openQueue(tx: Tx, item: WorkItem, most: number): Promise<OpenQueue | undefined> {
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
        e.id as event_id, e.type, e.at, e.actor_kind, e.actor_id, e.api_key_id, e.subject_type, e.subject_id, e.data, e.request_id
      from delivery d join delivery_lane l on l.tenant_id = d.tenant_id and l.id = d.lane_id
        join event e on e.tenant_id = d.tenant_id and e.id = d.event_id
      where d.tenant_id = ${tx.tenant_id} and d.lane_id = ${item.id} and d.finished_at is null
        and d.next_attempt_at <= statement_timestamp()
      order by d.xid, d.seq limit ${most + 1}`,
  ])
  if (queue === undefined) return undefined
  const due = rows
    .slice(0, most)
    .map(({ id, recipient, resends, attempts, last_error, is_over, event_id, ...event }) => ({
      ...{ id, recipient, resends, attempts, last_error, is_over },
      event: { id: event_id, ...event },
    }))
  const { version = '', ...shown } = channel ?? {}
  return { ...queue, channel: channel && (shown as NotificationChannel), version, due, more: rows.length > most }
}

/** The channel is on, and what it was when the turn began. */
function isAsRead(tx: Tx, { channel, version }: OpenQueue): Statement {
  return sql`exists (select from notification_channel c where c.tenant_id = ${tx.tenant_id} and c.id = ${channel?.id ?? null}
    and c.enabled and c.updated_at = nullif(${version}, '')::timestamptz)`
}

/** How the turn goes on: what became of the last attempt, in the transaction in which the next one is begun. */
export type Ended = { delivery: DueDelivery; outcome: Outcome }

/**
 * Notes that an attempt begins, and how the one before ended. False where there is none to begin: the lane was lost, or
 * its channel changed since the turn began.
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

/** What an attempt's end changes. */
export function endings(ctx: WorkCtx, item: WorkItem, queue: OpenQueue, ended: Ended | undefined): Statement[] {
  if (ended === undefined) return []
  const { outcome, delivery } = ended
  const { tx } = ctx
  const end = sql`update delivery set ${changeOf(outcome, delivery)}
    where tenant_id = ${tx.tenant_id} and id = ${delivery.id} and finished_at is null and ${ours(tx, item)}`
  if (outcome.kind !== 'gone' || queue.channel === undefined) return [end]
  return [end, switchOff(ctx, queue.channel, queue.version, ours(tx, item))]
}

function changeOf(outcome: Outcome, { attempts }: DueDelivery): Statement {
  if (outcome.kind === 'delivered') {
    const said = outcome.said?.slice(0, maxTextLength) ?? null
    return sql`status = 'delivered', finished_at = clock_timestamp(), next_attempt_at = null, last_error = null,
      last_response = ${said}`
  }
  const why = outcome.why.slice(0, maxTextLength)
  if (outcome.kind !== 'try_again') return failed(sql`${why}`)
  // Held up with all others, it is the lane that waits.
  const wait = outcome.holds_up === 'all' ? 0 : waitMs(attempts + 1, Math.random(), outcome.after_ms)
  return sql`last_error = ${why}, next_attempt_at = least(give_up_at, ${inMs(wait)})`
}

function failed(why: Statement): Statement {
  return sql`status = 'failed', finished_at = clock_timestamp(), next_attempt_at = null, last_error = ${why}`
}

function inMs(ms: number): Statement {
  return sql`clock_timestamp() + make_interval(secs => ${ms / 1000})`
}

/** Has deliveries failed whose time is over. */
export function giveUp(tx: Tx, item: WorkItem, late: readonly DueDelivery[]): Statement[] {
  if (late.length === 0) return []
  return [
    sql`update delivery set ${failed(sql`'its time was over' || coalesce('; the last attempt: ' || last_error, '')`)}
      where tenant_id = ${tx.tenant_id} and id = any(${late.map(({ id }) => id)}::uuid[]) and finished_at is null
        and ${ours(tx, item)}`,
  ]
}

/** Has all that waits in the lane failed, a portion at a time. */
export function giveUpAll(tx: Tx, item: WorkItem, why: string): Statement {
  return sql`update delivery set ${failed(sql`${why}`)}
    where tenant_id = ${tx.tenant_id} and id in (select id from delivery where ${inQueue(tx, item)} and finished_at is null
      order by xid, seq limit ${maxAtOnce}) and ${ours(tx, item)}`
}

/** How a turn ends: `failures` in a row of the way to the recipient, after which the lane waits for so long. */
export type Closing = { failures: number; wait_ms: number; again: boolean }

/**
 * Ends a turn. What was kept long enough is removed, and a lane in which nothing is left goes; else it is looked at when
 * the next of its deliveries is due. INVARIANT: the lane is locked first, by a statement of its own: what came in until
 * then is seen, and what comes in after that has it looked at anew.
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

import type { WorkItem } from '../../jobs/claim.ts'
import type { DueWork } from '../../jobs/work-list.ts'
import type { Tx, WorkCtx } from '../../kernel/context.ts'
import { abortedAfter, withinDeadline } from '../../kernel/deadline.ts'
import { failedHere, type SendOutcome } from '../../kernel/send-outcome.ts'
import type { Carrier, Carriers, Delivery } from '../carrier.ts'
import type { ChannelType, NotificationChannel } from '../notification-channel.ts'
import { channelTypes, waitMs } from './delivery.ts'
import {
  beginAttempt,
  closeQueue,
  type DueDelivery,
  type Ended,
  endings,
  giveUp,
  giveUpAll,
  type OpenQueue,
  openQueue,
} from './recipient-queue-store.ts'

/** The dependencies of the delivery job. */
export type DeliveryDependencies = {
  carriers: Carriers
  /** The service is stopping: attempts in flight may finish, and no new attempt begins. */
  leaving: AbortSignal
  /** Called at the end of each attempt. */
  onOutcome?(channel_type: ChannelType, kind: SendOutcome['kind']): void
}

/** After this many deliveries, or this long, the run ends and other recipient queues of the tenant get their run. */
const maxPerRun = 20
const maxRunMs = 10_000

/** Attempts in flight at shutdown may take this long; a little later the work list releases their queue. */
const maxLeavingMs = 4_000

/** Added to the carrier's own deadline; after that the job stops waiting. */
const graceMs = 1_000

/**
 * Sends what waits for one recipient of one channel, in the order of the events. No other worker serves the queue meanwhile.
 * Each type of channel has its own work list: receivers of one type that hang do not delay other types.
 */
export function deliverDue(deps: DeliveryDependencies): DueWork[] {
  const cut = abortedAfter(deps.leaving, maxLeavingMs)
  return channelTypes.map((part) => ({
    table: 'delivery_lane',
    part,
    bounds: { width: 32, perTenant: 16 },
    run: (ctx, item) => deliverQueue(ctx, item, deps, cut),
  }))
}

async function deliverQueue(ctx: WorkCtx, item: WorkItem, deps: DeliveryDependencies, cut: AbortSignal): Promise<void> {
  const queue = await openQueue(ctx.tx, item, maxPerRun)
  if (queue === undefined) return
  const { channel, due, more } = queue
  const closed = whyClosed(queue)
  if (channel === undefined || closed !== undefined) {
    // All deliveries of a deleted channel are removed at once, finished ones too, batch by batch.
    const again = more || channel === undefined
    await closeQueue(ctx, item, queue, [giveUpAll(ctx.tx, item, closed ?? '')], { failures: 0, wait_ms: 0, again })
    return
  }
  const timely = due.filter(({ is_over }) => !is_over)
  const result = await runOnce(ctx, item, queue, timely, { deps, cut, channel })
  const late = due.filter(({ is_over }) => is_over)
  await closeQueue(ctx, item, queue, [...giveUp(ctx.tx, item, late), ...endings(ctx, item, queue, result.ended)], {
    ...afterwards(queue, result.ended?.outcome),
    again: more || result.count < timely.length,
  })
  if (result.fault !== undefined) throw result.fault
}

/** Why the queue is closed; undefined while it is open. */
function whyClosed({ channel, recipient }: OpenQueue): string | undefined {
  if (channel === undefined) return 'the channel was deleted'
  if (!channel.enabled) return 'the channel is switched off'
  const has = channel.channel_type !== 'email' || channel.config.to_addresses.includes(recipient)
  return has ? undefined : 'the channel no longer has this recipient'
}

/** When the recipient cannot be reached, the whole queue waits, longer after each failure. */
function afterwards({ failures }: OpenQueue, last: SendOutcome | undefined): { failures: number; wait_ms: number } {
  if (last?.kind !== 'try_again' || last.holds_up !== 'all') return { failures: 0, wait_ms: 0 }
  return { failures: failures + 1, wait_ms: waitMs(failures + 1, Math.random(), last.after_ms) }
}

type RunOptions = { deps: DeliveryDependencies; cut: AbortSignal; channel: NotificationChannel }

/**
 * The result of a run: `count` deliveries were sent; `ended` is the end of the last one. `fault`: an internal error, thrown after
 * all results are stored.
 */
type DeliveryRun = { count: number; ended?: Ended; fault?: unknown }

async function runOnce(
  ctx: WorkCtx,
  item: WorkItem,
  queue: OpenQueue,
  due: readonly DueDelivery[],
  { deps, cut, channel }: RunOptions,
): Promise<DeliveryRun> {
  const carrier = deps.carriers[channel.channel_type]
  const until = performance.now() + maxRunMs
  const result: DeliveryRun = { count: 0 }
  for (const delivery of due) {
    if (deps.leaving.aborted || performance.now() > until) break
    if (!(await beginAttempt(ctx, item, queue, result.ended, delivery))) return { count: result.count }
    result.count += 1
    const outcome = await attempt(ctx.tx, carrier, channel, delivery, cut).catch((fault: unknown) => {
      result.fault = fault
      return failedHere
    })
    result.ended = { delivery, outcome }
    deps.onOutcome?.(channel.channel_type, outcome.kind)
    if (outcome.kind === 'gone' || result.fault !== undefined) break
    if (outcome.kind === 'try_again' && outcome.holds_up === 'all') break
  }
  return result
}

/** One attempt with a deadline, in case the carrier does not keep its own. */
async function attempt(
  tx: Tx,
  carrier: Carrier,
  channel: NotificationChannel,
  delivery: Delivery,
  cut: AbortSignal,
): Promise<SendOutcome> {
  const { maxMs } = carrier
  return withinDeadline(
    maxMs + graceMs,
    (over) => carrier.carry(tx, channel, delivery, AbortSignal.any([over, cut])),
    () => ({ kind: 'try_again', holds_up: 'all', why: `the attempt did not end within ${maxMs / 1000} s` }),
  )
}

import type { WorkItem } from '../../jobs/claim.ts'
import type { DueWork } from '../../jobs/work-list.ts'
import type { Tx, WorkCtx } from '../../kernel/context.ts'
import { withinDeadline } from '../../kernel/deadline.ts'
import type { Carrier, Carriers, Delivery, Outcome } from '../carrier.ts'
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

/** With what deliveries are taken out of the house. */
export type DeliveryDependencies = {
  carriers: Carriers
  /** The service stops: what is under way may end, nothing more is begun. */
  leaving: AbortSignal
  /** Told of each attempt's end. */
  onOutcome?(channel_type: ChannelType, kind: Outcome['kind']): void
}

/** After so many, or so long, other lanes of the tenant come up. */
const maxPerRun = 20
const maxRunMs = 10_000

/** What is under way at a stop may take so long; a little later the work list gives its lane back. */
const maxLeavingMs = 4_000

/** A carrier keeps its own time; one that does not is not waited for. */
const graceMs = 1_000

/**
 * Sends what waits for one recipient of one channel, in the order of the events, and nobody else does meanwhile. Each type
 * of channel is a list of its own: peers of one type that hang hold up no other.
 */
export function deliverDue(post: DeliveryDependencies): DueWork[] {
  const cut = new AbortController()
  post.leaving.addEventListener('abort', () => setTimeout(() => cut.abort(), maxLeavingMs).unref(), { once: true })
  return channelTypes.map((part) => ({
    table: 'delivery_lane',
    part,
    bounds: { width: 32, perTenant: 16 },
    run: (ctx, item) => deliverQueue(ctx, item, post, cut.signal),
  }))
}

async function deliverQueue(ctx: WorkCtx, item: WorkItem, post: DeliveryDependencies, cut: AbortSignal): Promise<void> {
  const queue = await openQueue(ctx.tx, item, maxPerRun)
  if (queue === undefined) return
  const { channel, due, more } = queue
  const closed = whyClosed(queue)
  if (channel === undefined || closed !== undefined) {
    // Of a channel that is deleted all goes, also what was done with: at once, a portion at a time.
    const again = more || channel === undefined
    await closeQueue(ctx, item, queue, [giveUpAll(ctx.tx, item, closed ?? '')], { failures: 0, wait_ms: 0, again })
    return
  }
  const timely = due.filter(({ is_over }) => !is_over)
  const turn = await runOnce(ctx, item, queue, timely, { post, cut, channel })
  const late = due.filter(({ is_over }) => is_over)
  await closeQueue(ctx, item, queue, [...giveUp(ctx.tx, item, late), ...endings(ctx, item, queue, turn.ended)], {
    ...afterwards(queue, turn.ended?.outcome),
    again: more || turn.count < timely.length,
  })
  if (turn.fault !== undefined) throw turn.fault
}

/** Why nothing goes there any more; undefined while it does. */
function whyClosed({ channel, recipient }: OpenQueue): string | undefined {
  if (channel === undefined) return 'the channel was deleted'
  if (!channel.enabled) return 'the channel is switched off'
  const has = channel.channel_type !== 'email' || channel.config.to_addresses.includes(recipient)
  return has ? undefined : 'the channel no longer has this recipient'
}

/** After a failure of the way to the recipient all waits, longer each time. */
function afterwards({ failures }: OpenQueue, last: Outcome | undefined): { failures: number; wait_ms: number } {
  if (last?.kind !== 'try_again' || last.holds_up !== 'all') return { failures: 0, wait_ms: 0 }
  return { failures: failures + 1, wait_ms: waitMs(failures + 1, Math.random(), last.after_ms) }
}

type Dependencies = { post: DeliveryDependencies; cut: AbortSignal; channel: NotificationChannel }

/** How a turn went: `count` were sent, `ended` is the end of the last of them. `fault`: ours, to be told when all is kept. */
type DeliveryRun = { count: number; ended?: Ended; fault?: unknown }

async function runOnce(
  ctx: WorkCtx,
  item: WorkItem,
  queue: OpenQueue,
  due: readonly DueDelivery[],
  { post, cut, channel }: Dependencies,
): Promise<DeliveryRun> {
  const carrier = post.carriers[channel.channel_type]
  const until = performance.now() + maxRunMs
  const turn: DeliveryRun = { count: 0 }
  for (const delivery of due) {
    if (post.leaving.aborted || performance.now() > until) break
    if (!(await beginAttempt(ctx, item, queue, turn.ended, delivery))) return { count: turn.count }
    turn.count += 1
    const outcome = await attempt(ctx.tx, carrier, channel, delivery, cut).catch((fault: unknown) => {
      turn.fault = fault
      return failedHere
    })
    turn.ended = { delivery, outcome }
    post.onOutcome?.(channel.channel_type, outcome.kind)
    if (outcome.kind === 'gone' || turn.fault !== undefined) break
    if (outcome.kind === 'try_again' && outcome.holds_up === 'all') break
  }
  return turn
}

const failedHere: Outcome = {
  kind: 'try_again',
  holds_up: 'this',
  why: 'the service failed to send it; its log says why',
}

/** One attempt, which ends: a carrier keeps its own time, and one that does not is not waited for. */
async function attempt(
  tx: Tx,
  carrier: Carrier,
  channel: NotificationChannel,
  delivery: Delivery,
  cut: AbortSignal,
): Promise<Outcome> {
  const { maxMs } = carrier
  return withinDeadline(
    maxMs + graceMs,
    (over) => carrier.carry(tx, channel, delivery, AbortSignal.any([over, cut])),
    () => ({ kind: 'try_again', holds_up: 'all', why: `no end within ${maxMs / 1000} s` }),
  )
}

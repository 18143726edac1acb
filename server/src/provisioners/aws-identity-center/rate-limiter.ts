import { afterSending, afterThrottling, beganAt, rateAt } from './adaptive-rate.ts'
import { openPriorityQueue, type QueueLimits } from './priority-queue.ts'

/**
 * The rate limiter of one instance, shared by all of this process's drivers for it: at most 18 calls a second, and at most 8
 * operations on assignments in flight, with one per account.
 */
export type RateLimiter = {
  /** Waits until one call may go. @throws NotNow when that is too far off */
  wait(queueLimits: QueueLimits): Promise<void>
  /** AWS throttled a call that was sent at that moment, by `performance.now()`: the rate is lower at once, and grows again with time. */
  throttled(sentAt: number): void
  /** AWS throttled a call within the last minute. */
  isThrottled(): boolean
  /** Calls a second that may be sent now. */
  callsASecond(): number
  /**
   * Waits for room, begins an operation on an account, and keeps its slot until `ended` is called, or until it was not polled for a
   * minute. `start` returns AWS's id of the operation, or undefined when it is already done. When an operation with the same
   * `name` on the same assignment is in flight, it is not begun again: its id is returned.
   * @throws NotNow when room is too far off
   */
  operate(
    operation: Operation,
    queueLimits: QueueLimits,
    start: () => Promise<string | undefined>,
  ): Promise<string | undefined>
  /** An operation is still in flight: begun by this process, or by an earlier one. */
  underWay(id: string, account: string): void
  ended(id: string): void
  /** Whether a call waits for an operation to end. */
  isAwaited(): boolean
}

/** The part of it that spaces calls. */
export type CallLimiter = Pick<RateLimiter, 'wait' | 'throttled' | 'isThrottled' | 'callsASecond'>

/** `key`: the assignment; `name`: the kind of operation. */
type Operation = { account: string; key: string; name: string }

/**
 * `readsASecond`: of the calls, those that read the inventory, and as many of the organization. `leastCallsASecond`: even if all are throttled.
 * `repeatMs`: how long a throttled call is repeated. `retryMs`: the longest pause before its first repetition. What is left out is as with AWS.
 */
export type Limits = {
  callsASecond: number
  operations: number
  readsASecond?: number
  leastCallsASecond?: number
  repeatMs?: number
  retryMs?: number
}

/** The inventory leaves most calls to those who wait for access. The slowest rate and the pause are those of AWS's own SDK. */
export const limitsOfAws = {
  callsASecond: 18,
  operations: 8,
  readsASecond: 4,
  leastCallsASecond: 0.5,
  repeatMs: 12_000,
  retryMs: 500,
} as const satisfies Limits

/** As long after the last throttled call, it is shown to people who wait. */
const throttledForMs = 60_000
/** While the rate grows, a waiting call looks again after this time. */
const growingMs = 100
const forgottenAfterMs = 60_000
/** The assumed duration of an operation before one was observed. */
const usualOperationMs = 3_000

type Slot = { account: string; operation: Operation | undefined; begunAt: number; seenAt: number }

export function openRateLimiter(limits: Limits): RateLimiter {
  return { ...openCallLimiter(limits.callsASecond, limits.leastCallsASecond), ...openSlots(limits.operations) }
}

/** How fast the inventory is read: one pace for all readers of an instance in this process. */
export type ReadingPace = { instance: CallLimiter; organization: CallLimiter; members: CallLimiter }

export function openReadingPace({ readsASecond = limitsOfAws.readsASecond, leastCallsASecond }: Limits): ReadingPace {
  const open = () => openCallLimiter(readsASecond, leastCallsASecond)
  return { instance: open(), organization: open(), members: open() }
}

function openCallLimiter(most: number, least: number = limitsOfAws.leastCallsASecond): CallLimiter {
  const bounds = { least: Math.min(least, most), most }
  let state = beganAt(performance.now() / 1_000)
  let sentAt = Number.NEGATIVE_INFINITY
  let throttledAt = Number.NEGATIVE_INFINITY
  const callsASecond = () => rateAt(state, performance.now() / 1_000, bounds)
  const leftMs = () => sentAt + 1_000 / callsASecond() - performance.now()
  const queue = openPriorityQueue({
    take() {
      const ms = leftMs()
      if (ms > 0) return callsASecond() < most ? Math.min(ms, growingMs) : ms
      // Counted from now, not from when the call was due, so that delayed calls do not come in a burst.
      sentAt = performance.now()
      state = afterSending(state, sentAt / 1_000)
      return 0
    },
    estimateMs: (before) => Math.max(0, leftMs()) + (before * 1_000) / callsASecond(),
  })
  return {
    wait: (queueLimits) => queue.wait('', queueLimits),
    throttled(sent) {
      throttledAt = performance.now()
      const lowered = afterThrottling(state, { now: throttledAt / 1_000, sentAt: sent / 1_000 }, bounds)
      // The next call waits for the whole of the new gap.
      if (lowered !== state) sentAt = throttledAt
      state = lowered
    },
    isThrottled: () => performance.now() < throttledAt + throttledForMs,
    callsASecond,
  }
}

function openSlots(maxOperations: number): Pick<RateLimiter, 'operate' | 'underWay' | 'ended' | 'isAwaited'> {
  let operationMs = usualOperationMs
  const slots = new Map<string, Slot>()
  const isBusy = (account: string) => slots.values().some((slot) => slot.account === account)
  const dropForgotten = () => {
    const now = performance.now()
    for (const [id, { seenAt }] of slots) if (now - seenAt > forgottenAfterMs) slots.delete(id)
  }
  const queue = openPriorityQueue({
    take(account) {
      dropForgotten()
      // `ended` reports the end of an operation; the interval is for operations that are no longer polled.
      if (slots.size >= maxOperations || isBusy(account)) return 1_000
      // Takes the slot at once, under the account's name until AWS returns an id.
      const now = performance.now()
      slots.set(account, { account, operation: undefined, begunAt: now, seenAt: now })
      return 0
    },
    estimateMs(before, ofAccount, account) {
      const ofAccountMs = (ofAccount + (isBusy(account) ? 1 : 0)) * operationMs
      const ofAllMs = Math.max(0, (before + slots.size + 1 - maxOperations) / maxOperations) * operationMs
      return Math.max(ofAccountMs, ofAllMs)
    },
  })
  return {
    async operate(operation, queueLimits, start) {
      const { account, key, name } = operation
      for (const [id, slot] of slots) {
        if (slot.operation?.key !== key) continue
        if (slot.operation.name === name) return id
        // The opposite operation is wanted now: the old one is no longer polled, and AWS reports a conflict if it still runs.
        slots.delete(id)
      }
      await queue.wait(account, queueLimits)
      try {
        const id = await start()
        const slot = slots.get(account)
        if (id !== undefined && slot !== undefined) slots.set(id, { ...slot, operation })
        return id
      } finally {
        slots.delete(account)
        queue.advance()
      }
    },
    underWay(id, account) {
      const now = performance.now()
      const known = slots.get(id)
      if (known !== undefined) known.seenAt = now
      else slots.set(id, { account, operation: undefined, begunAt: now, seenAt: now })
    },
    ended(id) {
      const slot = slots.get(id)
      if (slot === undefined) return
      slots.delete(id)
      operationMs = operationMs * 0.8 + (performance.now() - slot.begunAt) * 0.2
      queue.advance()
    },
    isAwaited: () => !queue.isEmpty(),
  }
}

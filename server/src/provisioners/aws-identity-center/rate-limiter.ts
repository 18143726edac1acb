import { openPriorityQueue, type QueueLimits } from './priority-queue.ts'

/**
 * One instance's pace, kept by all of this process's ways to it: at most 18 calls a second; of operations on assignments at
 * most 8 under way, and one in an account.
 */
export type RateLimiter = {
  /** Waits for the moment of one call. @throws NotNow where that is too far off */
  turn(patience: QueueLimits): Promise<void>
  /** AWS says that calls come too fast, from here or from elsewhere: slower from now on, and by and by faster again. */
  throttled(): void
  /**
   * Waits for room, begins an operation on an account, and keeps its place until `ended` says so, or nobody has asked
   * about it for a minute. `start` answers AWS's id of it, or undefined where it is done already. One of the same `name`
   * that is under way is not begun again: its id is answered.
   * @throws NotNow where room is too far off
   */
  operate(
    operation: Operation,
    patience: QueueLimits,
    start: () => Promise<string | undefined>,
  ): Promise<string | undefined>
  /** An operation is still under way: begun here, or by a process that is no more. */
  underWay(id: string, account: string): void
  ended(id: string): void
  /** Somebody waits for an operation to end. */
  isAwaited(): boolean
}

/** `key`: the assignment that it is about; `name`: what is done to it. */
type Operation = { account: string; key: string; name: string }

export type Limits = { callsASecond: number; operations: number }

export const limitsOfAws: Limits = { callsASecond: 18, operations: 8 }

/** After throttling answers calls come so many times more slowly at most: one in four seconds, at AWS's pace. */
const minRate = 72
const forgottenAfterMs = 60_000
/** What an operation takes until one has been seen. */
const usualOperationMs = 3_000

type Place = { account: string; operation: Operation | undefined; begunAt: number; seenAt: number }

export function openRateLimiter({ callsASecond, operations }: Limits): RateLimiter {
  return { ...openCalls(1_000 / callsASecond), ...openRoom(operations) }
}

function openCalls(minGapMs: number): Pick<RateLimiter, 'turn' | 'throttled'> {
  let gapMs = minGapMs
  let nextAt = 0
  let throttledAt = Number.NEGATIVE_INFINITY
  const line = openPriorityQueue({
    take() {
      const now = performance.now()
      if (now < nextAt) return nextAt - now
      // From now and not from when it was due: calls that were held up do not come in a heap.
      nextAt = now + gapMs
      gapMs = Math.max(minGapMs, gapMs * 0.9)
      return 0
    },
    estimateMs: (before) => Math.max(0, nextAt - performance.now()) + before * gapMs,
  })
  return {
    turn: (patience) => line.wait('', patience),
    throttled() {
      const now = performance.now()
      // Of several calls that were under way together all may be told so: that is one time.
      if (now < throttledAt + gapMs) return
      throttledAt = now
      gapMs = Math.min(minGapMs * minRate, gapMs * 4)
      nextAt = now + gapMs
    },
  }
}

function openRoom(most: number): Pick<RateLimiter, 'operate' | 'underWay' | 'ended' | 'isAwaited'> {
  let operationMs = usualOperationMs
  const places = new Map<string, Place>()
  const isBusy = (account: string) => places.values().some((place) => place.account === account)
  const dropForgotten = () => {
    const now = performance.now()
    for (const [id, { seenAt }] of places) if (now - seenAt > forgottenAfterMs) places.delete(id)
  }
  const line = openPriorityQueue({
    take(account) {
      dropForgotten()
      // Ends are told by `ended`; the pause is for what nobody tells of.
      if (places.size >= most || isBusy(account)) return 1_000
      // Taken at once, under the account's name until AWS answers an id.
      const now = performance.now()
      places.set(account, { account, operation: undefined, begunAt: now, seenAt: now })
      return 0
    },
    estimateMs(before, ofAccount, account) {
      const ofAccountMs = (ofAccount + (isBusy(account) ? 1 : 0)) * operationMs
      const ofAllMs = Math.max(0, (before + places.size + 1 - most) / most) * operationMs
      return Math.max(ofAccountMs, ofAllMs)
    },
  })
  return {
    async operate(operation, patience, start) {
      const { account, key, name } = operation
      for (const [id, place] of places) {
        if (place.operation?.key !== key) continue
        if (place.operation.name === name) return id
        // The other way now: nobody will ask about that one any more, and whether it is still under way AWS says.
        places.delete(id)
      }
      await line.wait(account, patience)
      try {
        const id = await start()
        const place = places.get(account)
        if (id !== undefined && place !== undefined) places.set(id, { ...place, operation })
        return id
      } finally {
        places.delete(account)
        line.advance()
      }
    },
    underWay(id, account) {
      const now = performance.now()
      const known = places.get(id)
      if (known !== undefined) known.seenAt = now
      else places.set(id, { account, operation: undefined, begunAt: now, seenAt: now })
    },
    ended(id) {
      const place = places.get(id)
      if (place === undefined) return
      places.delete(id)
      operationMs = operationMs * 0.8 + (performance.now() - place.begunAt) * 0.2
      line.advance()
    },
    isAwaited: () => !line.isEmpty(),
  }
}

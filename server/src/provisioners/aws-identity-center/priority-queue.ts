import { NotNow } from '../driver.ts'

/** The urgency of a call, and its deadline. Removing access goes before giving it, and both before reading lists for people. */
export type QueueLimits = {
  urgent: boolean
  /**
   * When the work began that the call belongs to, by `performance.now()`; left out: the call is work of its own. What began first is finished
   * first: in place of much work that is begun and nothing that ends, when there is room for few calls.
   */
  since?: number
  /** Nobody waits for it: it goes after all others. */
  background?: true
  /** By `performance.now()`; a call that would wait longer gets `NotNow`. */
  until: number
  signal: AbortSignal
}

/** A queue of waiting calls: urgent ones first, those in the background last, each kind in the order in which their work began. */
export type PriorityQueue = {
  /** Resolves when the call may go. @throws NotNow when that is too far off; the signal's reason */
  wait(name: string, limits: QueueLimits): Promise<void>
  /** Something changed: releases the calls that can go now. */
  advance(): void
  isEmpty(): boolean
}

type Rule = {
  /** Takes the resource that a call of that name needs. Returns 0 on success, else milliseconds until the next try. */
  take(name: string): number
  /** Estimates the milliseconds to wait behind `before` calls, of which `ofName` have the same name. */
  estimateMs(before: number, ofName: number, name: string): number
}

type Waiting = { name: string; limits: QueueLimits; since: number; go(): void; stop(error: unknown): void }

const minRetryMs = 250
const maxRetryMs = 60_000

export function openPriorityQueue({ take, estimateMs }: Rule): PriorityQueue {
  let waiting: Waiting[] = []
  let timer: NodeJS.Timeout | undefined

  const placeOf = (limits: QueueLimits, since: number) => {
    const rank = rankOf(limits)
    const first = waiting.findIndex((one) => {
      const other = rankOf(one.limits)
      return other > rank || (other === rank && one.since > since)
    })
    return first === -1 ? waiting.length : first
  }
  const estimateAt = (place: number, name: string) => {
    const ofName = waiting.slice(0, place).filter((one) => one.name === name).length
    return estimateMs(place, ofName, name)
  }

  const advance = () => {
    clearTimeout(timer)
    let nextMs = Number.POSITIVE_INFINITY
    const blocked = new Set<string>()
    const left: Waiting[] = []
    for (const one of waiting) {
      const { name, limits } = one
      const now = performance.now()
      if (limits.signal.aborted) one.stop(limits.signal.reason)
      else if (now >= limits.until) one.stop(new NotNow(comeBackMs(estimateMs(left.length, 0, name))))
      else {
        const ms = blocked.has(name) ? nextMs : take(name)
        if (ms <= 0) {
          one.go()
          continue
        }
        blocked.add(name)
        left.push(one)
        nextMs = Math.min(nextMs, ms, limits.until - now)
      }
    }
    waiting = left
    if (left.length > 0) timer = setTimeout(advance, Math.max(1, Math.min(nextMs, maxRetryMs)))
  }

  return {
    async wait(name, limits) {
      limits.signal.throwIfAborted()
      const since = limits.since ?? performance.now()
      const place = placeOf(limits, since)
      const estimate = estimateAt(place, name)
      if (performance.now() + estimate > limits.until) throw new NotNow(comeBackMs(estimate))
      await new Promise<void>((go, stop) => {
        waiting.splice(place, 0, { name, limits, since, go, stop })
        advance()
      })
    },
    advance,
    isEmpty: () => waiting.length === 0,
  }
}

function rankOf({ urgent, background }: QueueLimits): number {
  if (urgent) return 0
  return background ? 2 : 1
}

/** A little before the call's estimated time, so that the queue never runs empty; random, so that calls do not return all at once. */
function comeBackMs(estimate: number): number {
  return Math.round(Math.min(maxRetryMs, Math.max(minRetryMs, estimate * (0.5 + Math.random() / 2))))
}

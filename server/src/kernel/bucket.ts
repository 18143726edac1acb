import { Problem } from './errors.ts'
import { createLruCache } from './lru-cache.ts'

/** `quota` at once, refilled evenly over `seconds`. `name` identifies the limit to callers and operators. */
export type Limit<Name extends string = string> = {
  readonly name: Name
  readonly quota: number
  readonly seconds: number
}

/** The state of one key's limit. */
export type LimitState = {
  allowed: boolean
  /** How many more are allowed now. */
  remaining: number
  /** Whole seconds until one more is allowed; 0 if one is allowed now. */
  retrySeconds: number
  /** Whole seconds until the quota is full again. */
  fullSeconds: number
}

/** One bucket for each key: an address, a credential. */
export type Buckets = {
  /** Takes one if one is left. */
  take(key: string): LimitState
  /** Returns one that was taken. */
  release(key: string): void
  /** The state, without taking one. */
  peek(key: string): LimitState
}

/**
 * Buckets in memory, each a single number: the moment at which it will be full again. The least recently used keys are
 * evicted, and an evicted bucket counts as full. `clock`: milliseconds of a monotonic clock.
 */
export function openBuckets(
  { quota, seconds }: Limit,
  { keys = 10_000, clock = () => performance.now() }: { keys?: number; clock?(): number } = {},
): Buckets {
  const fullAt = createLruCache<number>(keys)
  const window = seconds * 1_000
  const each = window / quota
  /** Rounding must not cost the last of a quota. */
  const tolerance = each / 100

  function stateOf(used: number, allowed: boolean): LimitState {
    const room = window - used + tolerance
    return {
      allowed,
      remaining: Math.max(0, Math.floor(room / each)),
      retrySeconds: room >= each ? 0 : Math.ceil((each - room) / 1_000),
      fullSeconds: Math.ceil(used / 1_000),
    }
  }

  function usedOf(key: string, now: number): number {
    return Math.max(0, (fullAt.get(key) ?? now) - now)
  }

  return {
    take(key) {
      const now = clock()
      const used = usedOf(key, now)
      if (used + each > window + tolerance) return stateOf(used, false)
      fullAt.set(key, now + used + each)
      return stateOf(used + each, true)
    },
    release(key) {
      const now = clock()
      fullAt.set(key, now + Math.max(0, usedOf(key, now) - each))
    },
    peek(key) {
      const now = clock()
      const used = usedOf(key, now)
      return stateOf(used, used + each <= window + tolerance)
    },
  }
}

/** The details of a limit in a reply. */
export type LimitDetails = { limit: string; quota: number; window_seconds: number; retry_after_seconds: number }

/** 429 `rate_limited`, with the name of the limit and the time to retry. `what`: what was too much. */
export function rateLimited({ name, quota, seconds }: Limit, retrySeconds: number, what = 'too many calls'): Problem {
  const retry_after_seconds = Math.max(1, Math.ceil(retrySeconds))
  const details: LimitDetails = { limit: name, quota, window_seconds: Math.ceil(seconds), retry_after_seconds }
  return new Problem('rate_limited', `${what}; try again in ${retry_after_seconds} s`, { details })
}

import { Problem } from './errors.ts'
import { createLruCache } from './lru-cache.ts'

/** `quota` at once, given back evenly over `seconds`. `name` tells callers and operators which limit it is. */
export type Limit<Name extends string = string> = {
  readonly name: Name
  readonly quota: number
  readonly seconds: number
}

/** How somebody stands with a limit. */
export type LimitState = {
  allowed: boolean
  /** How many more are allowed just now. */
  remaining: number
  /** Whole seconds until one more is allowed; 0 where one is. */
  retrySeconds: number
  /** Whole seconds until all of the quota is there again. */
  fullSeconds: number
}

/** One bucket for each key: an address, a credential. */
export type Buckets = {
  /** Takes one where one is left. */
  take(key: string): LimitState
  /** Gives back one that was taken. */
  release(key: string): void
  /** How it stands before anything is taken. */
  peek(key: string): LimitState
}

/**
 * Buckets in memory, each a single number: the moment at which it will be full again. The keys used longest ago are
 * forgotten, which is as if they had been full. `clock`: milliseconds of a clock that nobody sets.
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

  function standing(used: number, allowed: boolean): LimitState {
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
      if (used + each > window + tolerance) return standing(used, false)
      fullAt.set(key, now + used + each)
      return standing(used + each, true)
    },
    release(key) {
      const now = clock()
      fullAt.set(key, now + Math.max(0, usedOf(key, now) - each))
    },
    peek(key) {
      const now = clock()
      const used = usedOf(key, now)
      return standing(used, used + each <= window + tolerance)
    },
  }
}

/** What a limit says of itself in an answer. */
export type LimitDetails = { limit: string; quota: number; window_seconds: number; retry_after_seconds: number }

/** 429 `rate_limited`, which says which limit it was and when to come again. */
export function rateLimited({ name, quota, seconds }: Limit, retrySeconds: number): Problem {
  const retry_after_seconds = Math.max(1, Math.ceil(retrySeconds))
  const details: LimitDetails = { limit: name, quota, window_seconds: Math.ceil(seconds), retry_after_seconds }
  return new Problem('rate_limited', `too many: try again in ${retry_after_seconds} s`, { details })
}

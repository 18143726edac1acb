import type { TargetPace } from '../driver.ts'
import type { RateLimiter } from './rate-limiter.ts'

/** How fast the instances of this process take calls; `most`: while none is throttled. */
export function openPaces(most: number) {
  const slowed = new Set<RateLimiter>()
  let throttled = 0
  const dropRecovered = () => {
    for (const one of slowed) if (one.callsASecond() >= most) slowed.delete(one)
  }
  return {
    /** The same limiter, whose throttled calls are counted. */
    follow: (limiter: RateLimiter): RateLimiter => ({
      ...limiter,
      throttled(sentAt) {
        throttled += 1
        limiter.throttled(sentAt)
        dropRecovered()
        slowed.add(limiter)
      },
    }),
    now(): TargetPace {
      dropRecovered()
      const rates = [...slowed].map((one) => one.callsASecond())
      return { throttled, calls_per_second: Math.min(most, ...rates) }
    },
  }
}

/**
 * How many calls a second a service takes, learned from its throttling: the rule of AWS's own SDK in its adaptive mode (CUBIC), with an upper
 * limit. Rules only, without I/O. Times are in seconds, rates in calls a second.
 */

/** The rate never leaves these. */
export type RateBounds = { least: number; most: number }

export type AdaptiveRate = {
  /** The last throttled call that lowered the rate, and the rate at which the service throttled; null before the first. */
  throttled: { at: number; rate: number } | null
  /** Calls sent a second, smoothed. */
  measured: number
  /** Since when calls are counted that `measured` does not contain yet, and how many there are. */
  window: { from: number; sent: number }
}

/** A throttled call lowers the rate to this part of it. */
const beta = 0.7
/** How steeply the rate grows with the time since then. */
const growth = 0.4
/** The weight of the latest calls in the measured rate. */
const smoothing = 0.8
const windowSeconds = 0.5

/** The state before the first call. */
export function beganAt(now: number): AdaptiveRate {
  return { throttled: null, measured: 0, window: { from: windowOf(now), sent: 0 } }
}

/** A call was sent. */
export function afterSending(state: AdaptiveRate, now: number): AdaptiveRate {
  const { from, sent } = state.window
  const window = windowOf(now)
  if (window <= from) return { ...state, window: { from, sent: sent + 1 } }
  const latest = (sent + 1) / (window - from)
  return {
    ...state,
    measured: latest * smoothing + state.measured * (1 - smoothing),
    window: { from: window, sent: 0 },
  }
}

/**
 * The service throttled a call that was sent at that moment. Of calls in flight together the first alone counts: those that were sent before
 * the rate was lowered say nothing about the lower one.
 */
export function afterThrottling(
  state: AdaptiveRate,
  { now, sentAt }: { now: number; sentAt: number },
  bounds: RateBounds,
): AdaptiveRate {
  if (state.throttled !== null && sentAt < state.throttled.at) return state
  // What was allowed but not sent was not tried: the service throttles at what was sent.
  const rate = Math.min(state.measured, rateAt(state, now, bounds))
  return { ...state, throttled: { at: now, rate } }
}

/**
 * The rate that is allowed now. After throttling it is back at the rate that was throttled after some seconds, stays near it for a while, and
 * then grows ever faster up to the upper limit.
 */
export function rateAt({ throttled }: AdaptiveRate, now: number, { least, most }: RateBounds): number {
  if (throttled === null) return most
  const plateauAfter = Math.cbrt((throttled.rate * (1 - beta)) / growth)
  const rate = growth * (now - throttled.at - plateauAfter) ** 3 + throttled.rate
  return Math.min(most, Math.max(least, rate))
}

function windowOf(now: number): number {
  return Math.floor(now / windowSeconds) * windowSeconds
}

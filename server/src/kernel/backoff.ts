/** How long to wait before failed work is retried: twice as long each time. */
export type Backoff = {
  /** The first delay, in any unit of time. */
  base: number
  /** The maximum delay, in the same unit. */
  max: number
  /** The random part of each delay, so that callers that failed together do not retry together: 0 none, 1 all of it. */
  jitter?: number
}

/** The delay before another attempt. `attempt` counts from 0; `random`, in [0, 1), is required with jitter. */
export function backoffDelay({ base, max, jitter = 0 }: Backoff, attempt: number, random = 1): number {
  return Math.round(Math.min(max, base * 2 ** attempt) * (1 - jitter + jitter * random))
}

/** The delays without jitter, up to the first that reaches the maximum: for SQL, which picks one by the number of attempts. */
export function backoffDelays(backoff: Backoff): number[] {
  const growing = Math.ceil(Math.log2(backoff.max / backoff.base))
  return Array.from({ length: growing + 1 }, (_, attempt) => backoffDelay(backoff, attempt))
}

/** How long to wait before work that failed is tried again: twice as long each time. */
export type Backoff = {
  /** The first delay, in whichever unit the user counts. */
  base: number
  /** The longest delay. */
  max: number
  /** Which part of each delay is random, so that not all who failed together come back together: 0 none, 1 all of it. */
  jitter?: number
}

/** The delay before another attempt. `attempt` counts from 0; `random`, in [0, 1), is needed where there is jitter. */
export function backoffDelay({ base, max, jitter = 0 }: Backoff, attempt: number, random = 1): number {
  return Math.round(Math.min(max, base * 2 ** attempt) * (1 - jitter + jitter * random))
}

/** The delays without jitter, up to the first that is the longest: for SQL, which picks one by its number of attempts. */
export function backoffDelays(backoff: Backoff): number[] {
  const growing = Math.ceil(Math.log2(backoff.max / backoff.base))
  return Array.from({ length: growing + 1 }, (_, attempt) => backoffDelay(backoff, attempt))
}

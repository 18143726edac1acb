/** The rules of a sweep: when, how much, how fast. No I/O here. */
import { backoffDelay } from '../kernel/backoff.ts'

/** A sweep begins at most so long after the one before, in seconds; it is full within five minutes. */
export const sweptEverySeconds = 240

/** What was taken away is watched for so many days, where the target can list what it holds. */
export const watchedDays = 7

/** Where it cannot, each is asked about by itself: what was taken away for so many days. */
export const askedDays = 1

/** So many entitlements are compared at once. */
export const maxCompared = 2_000

/**
 * Seconds over which the looks at so many entitlements are spread, so that they neither crowd the target nor stand before
 * what has to be taken away.
 */
export function spreadSeconds(suspects: number): number {
  return Math.min(suspects / 50, sweptEverySeconds)
}

/** Seconds until a sweep that failed so often is tried again. */
export function sweepAgainSeconds(failures: number): number {
  return backoffDelay({ base: 5, max: 120 }, failures)
}

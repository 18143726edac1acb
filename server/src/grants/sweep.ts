/** The rules of a sweep: its interval, size and rate. No I/O here. */

import type { LongRows } from '../jobs/long-rows.ts'
import { backoffDelay } from '../kernel/backoff.ts'
import type { ProvisionerRef } from '../provisioners/drivers.ts'

/**
 * A sweep at its start. `is_whole`: the first one in an epoch, of a target that was there before: it may hold what the ledger has lost.
 * `is_adopted`: the operator began the epoch. `has_orphans`: an earlier one found access that the ledger does not know.
 */
export type Sweep = ProvisionerRef & {
  failures: number
  began_at: string
  epoch: number
  is_whole: boolean
  is_adopted: boolean
  has_orphans: boolean
}

/** The maximum seconds between the starts of two sweeps. A sweep is complete within five minutes. */
export const sweptEverySeconds = 240

/**
 * Up to this many seconds less, at random, lie between two sweeps. So sweeps that began together, after a pause of the database or of the
 * machine, do not stay together.
 */
export const sweptEarlierSeconds = 30

/** At a start, sweeps begin at most this many seconds apart, and all of them within `sweptEverySeconds`. */
export const betweenSweepsSeconds = 0.1

/**
 * Sweeps that leave no place for others, in a process: after five minutes, within which each target is to be compared, they give way. A list may
 * be large, and its target slow: 20,000 calls to AWS take twenty minutes, and a list of what its sets give hours. So some go on for half a day.
 */
export const longSweeps: LongRows = { afterMs: 300_000, goOn: 8, untilMs: 43_200_000 }

/** Revoked access is watched for this many days if the target can list what it holds. */
export const watchedDays = 7

/** If the target has no list, each entitlement is checked by itself, and revoked access for this many days. */
export const checkedDays = 1

/** The number of entitlements compared at once. */
export const maxCompared = 2_000

/**
 * Seconds over which the checks of so many entitlements are spread, so that they neither overload the target nor delay
 * revokes.
 */
export function spreadSeconds(suspects: number): number {
  return Math.min(suspects / 50, sweptEverySeconds)
}

/** Seconds until a sweep with so many failures is retried. */
export function sweepAgainSeconds(failures: number): number {
  return backoffDelay({ base: 5, max: 120 }, failures)
}

/**
 * How much lost access a sweep may end without a person: so many, or this share of what its provisioner holds. More than that is more likely a
 * mistake about what was lost than a loss.
 */
export const maxEndedOfOrphans = { count: 20, share: 0.05 }

/**
 * The ledger's rules: compute from live grants what a target should hold, compare that with what was last observed there,
 * and choose the smallest act. No I/O here.
 */
import { backoffDelay } from '../kernel/backoff.ts'

export type Observed = 'absent' | 'present' | 'unknown'

/** A change made at the target by hand: access that a grant wants was removed, or access that no grant wants was added. */
export const drifts = ['removed', 'added'] as const
export type Drift = (typeof drifts)[number]

/** What Sallyport made for the access was changed. It is ours, so it is put back at once, and is no state that lasts. */
export type Change = 'changed'

export type EntitlementState = {
  /** A live grant wants it: pending or active, its end not reached. */
  wanted: boolean
  /** A pending grant wants it. That grant becomes active only after an observation of the target. */
  joining: boolean
  /** The extension of a grant that has just ended is approved and not planned yet: the access stays a little longer for it. */
  awaited: boolean
  /** The access was at the target before any act of ours; it is not ours. */
  held_before: boolean
  observed: Observed
  /** A sweep saw a state that differs from the last observation. */
  suspected: boolean
  drift: Drift | null
  /** The provisioner corrects changes made by hand. */
  corrects_drift: boolean
  /** Sallyport made what holds the access, for this access alone. */
  is_made: boolean
  /** The act that the target reported as done in this run. */
  completed_now: 'grant' | 'revoke' | null
  /** This run has observed the target. */
  observed_now: boolean
  /** An act that gives access failed recently and may still have a late effect. */
  may_land: boolean
  /** The act under way, recorded before it began. */
  act: 'grant' | 'revoke' | null
  /** The target's own name for it; null when it never answered. */
  act_reference: string | null
}

export type Step = 'poll' | 'verify' | 'grant' | 'revoke' | 'rest'

/**
 * The next step; `rest` when desired and observed agree. An act that never answered is repeated, because acts are idempotent.
 * An act that began may still take effect, so an observation alone does not prove that the access is gone.
 */
export function nextStep(state: EntitlementState): Step {
  const { wanted, held_before, observed, completed_now } = state
  if (state.act !== null) return stepOfAct(state)
  if (observed === 'unknown') return wanted || held_before || completed_now !== null ? 'verify' : 'revoke'
  if (!state.observed_now && isToBeSeen(state)) return 'verify'
  if (wanted) return observed === 'absent' && (state.joining || !isLeft(state, 'removed')) ? 'grant' : 'rest'
  if (held_before) return 'rest'
  if (observed === 'present') return state.awaited || isLeft(state, 'added') ? 'rest' : 'revoke'
  // The access was removed by hand. The revoke removes anything else of ours at the target.
  return state.drift === 'removed' && completed_now !== 'revoke' ? 'revoke' : 'rest'
}

function stepOfAct({ act, act_reference, wanted }: EntitlementState): Step {
  if (act_reference !== null) return 'poll'
  return act === 'grant' && wanted ? 'grant' : 'revoke'
}

/** The ledger says that the entitlement is at rest, but the target must confirm it. */
function isToBeSeen(state: EntitlementState): boolean {
  const { wanted, observed, joining, may_land } = state
  if (state.suspected && (state.drift !== null || agrees(state))) return true
  return wanted ? joining && observed === 'present' : may_land && observed === 'absent'
}

function agrees({ wanted, observed }: EntitlementState): boolean {
  return observed === (wanted ? 'present' : 'absent')
}

/**
 * Drift is reported. It is left unless the tenant has it corrected. Access that was not ours is always left, and what Sallyport made is never
 * left where no grant wants it.
 */
function isLeft({ drift, corrects_drift, held_before, is_made }: EntitlementState, kind: Drift): boolean {
  return drift === kind && (!corrects_drift || held_before) && !(is_made && kind === 'added')
}

/**
 * The drift that an observation of an entitlement at rest shows; null: none, or a change that an act of ours explains.
 * `state` is the state before the observation.
 */
export function driftSeen(state: EntitlementState, observed: 'absent' | 'present'): Drift | null {
  if (!state.suspected || state.completed_now !== null || state.joining || !agrees(state)) return null
  if (state.wanted) return observed === 'absent' ? 'removed' : null
  return observed === 'present' && !state.may_land ? 'added' : null
}

/**
 * Whether what Sallyport made for the access was changed since it was last seen as it should be, and no act of ours explains that. `state` is
 * the state before the observation.
 */
export function changeSeen({ wanted, observed, completed_now, may_land }: EntitlementState): boolean {
  return wanted && observed === 'present' && completed_now === null && !may_land
}

/** The target reported an act as done, but shows the opposite: its lists lag, or it did not do it. */
export function contradicts(completed: 'grant' | 'revoke' | null, observed: Observed): boolean {
  return (completed === 'grant' && observed === 'absent') || (completed === 'revoke' && observed === 'present')
}

export const saysDisabled = 'the provisioner that serves it is disabled'

const maxWaitMs = 60_000
const backoff = { base: 500, max: maxWaitMs, jitter: 1 }

/** Full jitter below a limit that doubles with each failure, up to a minute. `random` is in [0, 1). */
export function backoffMs(failures: number, random: number): number {
  return backoffDelay(backoff, failures, random) + 50
}

/** A revoke is retried indefinitely. People are notified after this many failures, or this long after its grant ended. */
export const alarmAfterFailures = 3
export const alarmAfterSeconds = 300

/** An act that takes long, or a target without capacity, is polled again within this time. */
export function waitMs(requestedMs: number): number {
  return Math.min(requestedMs, maxWaitMs)
}

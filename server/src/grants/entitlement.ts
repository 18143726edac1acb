/**
 * The ledger's rules: what a target should hold is computed from live grants, compared with what it was last seen to
 * hold, and answered with the smallest act. No I/O here.
 */
import { backoffDelay } from '../kernel/backoff.ts'

export type Observed = 'absent' | 'present' | 'unknown'

/** What was changed at the target by hand: it is wanted and was removed, or nobody wants it and it was added. */
export const drifts = ['removed', 'added'] as const
export type Drift = (typeof drifts)[number]

export type EntitlementState = {
  /** A live grant wants it: pending or active, its end not reached. */
  wanted: boolean
  /** A pending grant wants it: it becomes active only after a look at the target. */
  joining: boolean
  /** It was at the target before any act of ours: somebody else's. */
  held_before: boolean
  observed: Observed
  /** A sweep saw something else than what was observed last. */
  suspected: boolean
  drift: Drift | null
  /** What was changed by hand is put right. */
  corrects_drift: boolean
  /** The act that the target said is done, in this run. */
  told_now: 'grant' | 'revoke' | null
  /** In this run the target was looked at. */
  seen_now: boolean
  /** An act that gives failed lately, and what it may have begun can land still. */
  may_land: boolean
  /** The act under way, written down before it began. */
  act: 'grant' | 'revoke' | null
  /** The target's own name for it; null when it never answered. */
  act_reference: string | null
}

export type Step = 'poll' | 'verify' | 'grant' | 'revoke' | 'rest'

/**
 * The one next step; `rest` when desired and observed agree. An act that never answered is done again, since acts are
 * idempotent: one that was begun may still land, so looking alone would not be enough to call it gone.
 */
export function nextStep(state: EntitlementState): Step {
  const { wanted, held_before, observed, told_now } = state
  if (state.act !== null) return stepOfAct(state)
  if (observed === 'unknown') return wanted || held_before || told_now !== null ? 'verify' : 'revoke'
  if (!state.seen_now && isToBeSeen(state)) return 'verify'
  if (wanted) return observed === 'absent' && (state.joining || !isLeft(state, 'removed')) ? 'grant' : 'rest'
  if (held_before) return 'rest'
  if (observed === 'present') return isLeft(state, 'added') ? 'rest' : 'revoke'
  // Somebody has removed it by hand: whatever else of ours was there goes with the revocation.
  return state.drift === 'removed' && told_now !== 'revoke' ? 'revoke' : 'rest'
}

function stepOfAct({ act, act_reference, wanted }: EntitlementState): Step {
  if (act_reference !== null) return 'poll'
  return act === 'grant' && wanted ? 'grant' : 'revoke'
}

/** At rest, as far as the ledger knows; the target itself is to say so. */
function isToBeSeen(state: EntitlementState): boolean {
  const { wanted, observed, joining, may_land } = state
  if (state.suspected && (state.drift !== null || agrees(state))) return true
  return wanted ? joining && observed === 'present' : may_land && observed === 'absent'
}

function agrees({ wanted, observed }: EntitlementState): boolean {
  return observed === (wanted ? 'present' : 'absent')
}

/** Drift is told, and left where the tenant does not have it put right; what was not ours is always left. */
function isLeft({ drift, corrects_drift, held_before }: EntitlementState, kind: Drift): boolean {
  return drift === kind && (!corrects_drift || held_before)
}

/**
 * What a look at an entitlement that was at rest says was changed by hand; null: nothing, or what an act of ours explains.
 * `state` is as it was before the look.
 */
export function driftSeen(state: EntitlementState, observed: 'absent' | 'present'): Drift | null {
  if (!state.suspected || state.told_now !== null || state.joining || !agrees(state)) return null
  if (state.wanted) return observed === 'absent' ? 'removed' : null
  return observed === 'present' && !state.may_land ? 'added' : null
}

/** The target said that an act is done, and shows the contrary: its lists lag, or it did not do it. */
export function contradicts(told: 'grant' | 'revoke' | null, observed: Observed): boolean {
  return (told === 'grant' && observed === 'absent') || (told === 'revoke' && observed === 'present')
}

export const saysDisabled = 'the provisioner that serves it is disabled'

const maxWaitMs = 60_000
const backoff = { base: 500, max: maxWaitMs, jitter: 1 }

/** Full jitter: anywhere below twice as long as before, a minute at most. `random` is in [0, 1). */
export function backoffMs(failures: number, random: number): number {
  return backoffDelay(backoff, failures, random) + 50
}

/** A revoke is never given up; after so many failures people are told, or when its grant has been over for so long. */
export const alarmAfterFailures = 3
export const alarmAfterSeconds = 300

/** However long an act goes on, or a target has no room: it is asked again within this. */
export function waitMs(asked: number): number {
  return Math.min(asked, maxWaitMs)
}

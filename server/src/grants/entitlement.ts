/**
 * The ledger's rules: what a target should hold is computed from live grants, compared with what it was last seen to
 * hold, and answered with the smallest act. No I/O here.
 */

export type Observed = 'absent' | 'present' | 'unknown'

export type EntitlementState = {
  /** A live grant wants it: pending or active, its end not reached. */
  wanted: boolean
  /** A pending grant wants it: it becomes active only after a look at the target. */
  joining: boolean
  /** It was at the target before any act of ours: somebody else's. */
  held_before: boolean
  observed: Observed
  /** The act that the target said is done, in this turn. */
  told_now: 'grant' | 'revoke' | null
  /** In this turn the target was looked at. */
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
  if (state.act !== null && state.act_reference !== null) return 'poll'
  if (state.act !== null) return state.act === 'grant' && state.wanted ? 'grant' : 'revoke'
  if (state.observed === 'unknown')
    return state.wanted || state.held_before || state.told_now !== null ? 'verify' : 'revoke'
  if (state.joining && state.observed === 'present' && !state.seen_now) return 'verify'
  if (!state.wanted && state.observed === 'absent' && state.may_land && !state.seen_now) return 'verify'
  if (state.wanted && state.observed === 'absent') return 'grant'
  if (!state.wanted && state.observed === 'present' && !state.held_before) return 'revoke'
  return 'rest'
}

/** The target said that an act is done, and shows the contrary: its lists lag, or it did not do it. */
export function contradicts(told: 'grant' | 'revoke' | null, observed: Observed): boolean {
  return (told === 'grant' && observed === 'absent') || (told === 'revoke' && observed === 'present')
}

const longestBackoffMs = 60_000

/** Full jitter: anywhere below twice as long as before, a minute at most. `random` is in [0, 1). */
export function backoffMs(failures: number, random: number): number {
  return Math.round(random * Math.min(longestBackoffMs, 500 * 2 ** failures)) + 50
}

/** A revoke is never given up; after so many failures people are told. */
export const alarmAfterFailures = 3

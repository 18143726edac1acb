/**
 * One run of the job that converges an entitlement: its state, how each event changes that state, and how the run ends.
 * The job observes and writes. This module makes every decision, without I/O.
 */
import type { NotNow, Progress, Target, TargetError } from '../provisioners/driver.ts'
import type { ProvisionerType } from '../provisioners/provisioner.ts'
import { alarmAfterFailures, backoffMs, type Drift, type EntitlementState, type Step, waitMs } from './entitlement.ts'

/** A pending grant. `begun`: an act that gives it has begun, and policy permitted it. */
export type Waiting = { id: string; request_id: string; begun: boolean }

/** An entitlement as a run begins. */
export type EntitlementRow = Omit<EntitlementState, 'observed_now' | 'completed_now' | 'wanted' | 'joining'> & {
  /** An active grant wants it. */
  held: boolean
  /** The oldest pending grants that want it, at most `maxWaiting`. */
  waiting: readonly Waiting[]
  provisioner: ProvisionerType
  provisioner_id: string | null
  provisioner_version: number | null
  /** A disabled provisioner gives nothing new. */
  enabled: boolean
  target: Target
  /** When the access should end as of now, in milliseconds since 1970; null if no live grant wants it. */
  until_ms: number | null
  /** The end that the last granting act was given. */
  given_until_ms: number | null
  act_polls: number
  failures: number
  /** The moment that made it due, to the microsecond. The run does not overwrite a moment that was set meanwhile. */
  due_at: string
}

/** The maximum number of pending grants of one entitlement in one run. The next run gives the rest. */
export const maxWaiting = 50

/** The state of a run. */
export type Run = Readonly<
  EntitlementState &
    EntitlementRow & {
      /** The target's own name for the act of this run. */
      reference: string | null
    }
>

/** Something that the run has observed or done. */
export type RunEvent =
  /** Policy refused these waiting grants; they have failed. */
  | { type: 'refused'; ids: readonly string[] }
  /** The start of the act is recorded. */
  | { type: 'begun'; act: 'grant' | 'revoke' }
  /** The target answered an act or a poll. */
  | { type: 'answered'; step: 'grant' | 'revoke' | 'poll'; progress: Progress }
  /** The run observed the target itself; any drift is saved. */
  | { type: 'observed'; observed: 'absent' | 'present'; drift: Drift | null }
  /** The waiting grants are active. */
  | { type: 'activated' }

/** The state at the start of a run. */
export function beginRun(row: EntitlementRow): Run {
  return {
    ...row,
    ...demand(row.held, row.waiting),
    completed_now: null,
    observed_now: false,
    reference: row.act_reference,
  }
}

/** The state of the run after the event. */
export function reduce(run: Run, event: RunEvent): Run {
  switch (event.type) {
    case 'refused': {
      const waiting = run.waiting.filter(({ id }) => !event.ids.includes(id))
      return { ...run, ...demand(run.held, waiting) }
    }
    case 'begun': {
      if (event.act === 'revoke') return { ...run, reference: null }
      const waiting = run.waiting.map((grant) => ({ ...grant, begun: true }))
      return { ...run, waiting, given_until_ms: run.until_ms, reference: null }
    }
    case 'answered': {
      const { step, progress } = event
      const reference = progress.reference ?? run.reference
      if (!progress.done) return { ...run, reference }
      // The target reports the act as done. Only an observation shows what it holds. Acts are idempotent.
      const completed_now = step === 'poll' ? run.act : step
      return { ...run, reference, completed_now, observed: 'unknown', act: null, act_reference: null }
    }
    case 'observed': {
      const drift = event.drift ?? run.drift
      return { ...run, drift, observed: event.observed, observed_now: true }
    }
    case 'activated':
      return { ...run, joining: false }
  }
}

function demand(held: boolean, waiting: readonly Waiting[]) {
  return { waiting, wanted: held || waiting.length > 0, joining: waiting.length > 0 }
}

// ── How a run ends ─────────────────────────────────────────────────────────────────────────────────────────────────────

/**
 * An act, a poll or an observation failed. `giving`: it was to give access. `permanent`: grants that wait for it fail. `clears_act`:
 * nobody follows the act any more. `repeats_act`: it is then begun again, whatever is wanted by then. `alarm`: a revoke has failed so often that
 * people are notified; it is still retried. `may_land`: an act that gives access may have begun anyway (late effect). `reference`: the target's
 * own name for what failed.
 */
export type Failure = {
  message: string
  giving: boolean
  permanent: boolean
  clears_act: boolean
  repeats_act: boolean
  alarm: boolean
  may_land: boolean
  reference: string | null
}

/** How a run leaves its entitlement. */
export type Ending = {
  /** Milliseconds until the next run; undefined: at the next deadline of its live grants. */
  wait_ms: number | undefined
  /**
   * What happened last. `under_way`: the act continues at the target and is polled by this reference; `wanted` says whether a
   * live grant wanted the entitlement. `gone`: the target no longer holds the access; the act with this reference removed it.
   * `failure`: something failed. `unbegun`: the act was recorded as begun, but did not begin because the target had no
   * capacity. `why`: the reason to wait that is shown, which is no failure. Undefined: nothing is left to record.
   */
  last:
    | { under_way: string; wanted: boolean }
    | { gone: string | null }
    | { failure: Failure }
    | { unbegun: boolean; why: string | null }
    | undefined
}

/** The facts behind the decision have changed: the entitlement runs again at once. */
export const runAgain: Ending = { wait_ms: 0, last: undefined }

/** Another worker has the lease: this run writes nothing more. */
export const stop: Ending = { wait_ms: undefined, last: undefined }

/** Desired and observed agree. */
export function rest({ observed_now, observed, reference }: Run): Ending {
  return { wait_ms: undefined, last: observed_now && observed === 'absent' ? { gone: reference } : undefined }
}

/** The act continues at the target: it is polled after the wait. */
export function underWay({ wanted }: Run, under_way: string, poll_after_ms: number): Ending {
  return { wait_ms: waitMs(poll_after_ms), last: { under_way, wanted } }
}

/** The target has no capacity now. The act that this run recorded did not begin, so a late effect of it is impossible. */
export function comeBack({ act }: Run, step: Step, { after_ms, why }: NotNow): Ending {
  const unbegun = step === 'grant' && act === null
  return { wait_ms: waitMs(after_ms), last: unbegun || why !== null ? { unbegun, why } : undefined }
}

/** After this many failed polls of an operation that the target has lost, the run observes the target itself. */
const maxPollFailures = 4

/**
 * A revoke is retried indefinitely. A grant is retried until its deadline or a permanent refusal.
 * INVARIANT: a revoke that may still take effect is repeated before the access is given again. Else a grant that wants it by then would count what
 * is still there, and lose it to the late effect.
 */
export function fail(run: Run, step: Step, error: TargetError, random: number): Ending {
  const { kind, message, unbegun } = error
  const failures = run.failures + 1
  const isTransient = kind === 'transient'
  // A poll that was not sent says nothing of the act.
  const lostTrack = step === 'poll' && !unbegun && (!isTransient || failures >= maxPollFailures)
  const begins = step === 'grant' || step === 'revoke'
  const act = step === 'verify' ? run.completed_now : step === 'poll' ? run.act : step
  const clears_act = begins || run.completed_now !== null || lostTrack
  // A call of an earlier run that was never answered may still take effect, also where this one was refused or did not begin.
  const isRepeated = begins && run.act === step
  const failure = {
    message,
    giving: step === 'verify' ? run.wanted : act === 'grant',
    permanent: !isTransient,
    clears_act,
    repeats_act: clears_act && act === 'revoke' && ((isTransient && !unbegun) || isRepeated),
    alarm: failures >= alarmAfterFailures,
    may_land: isTransient && act === 'grant' && (lostTrack || (begins && (!unbegun || isRepeated))),
    reference: begins ? null : run.reference,
  }
  return { wait_ms: backoffMs(failures, random), last: { failure } }
}

// ── Until when ─────────────────────────────────────────────────────────────────────────────────────────────────────────

/** A target may end access by itself this long before its grants end. */
const earlyMs = 60_000

/** When access given now should end. */
export function endOf({ until_ms }: Run): Date {
  return new Date(until_ms ?? 0)
}

/** A slow act gave access that ends before its grants do, because those grants begin only now. */
export function endsEarly({ completed_now, given_until_ms, until_ms }: Run): boolean {
  return (
    completed_now === 'grant' && given_until_ms !== null && until_ms !== null && given_until_ms < until_ms - earlyMs
  )
}

/**
 * The target must hold the access until this moment; for access that was just given, until the end it was given. Null if no
 * grant wants it.
 */
export function mustHoldUntil(run: Run): Date | null {
  if (!run.wanted) return null
  return new Date((endsEarly(run) ? run.given_until_ms : null) ?? (run.until_ms ?? 0) - earlyMs)
}

/**
 * One run of the job that converges an entitlement: what it knows, what each observation makes of that, and how it ends.
 * The job observes and writes; everything that follows from it is decided here, without I/O.
 */
import type { NotNow, Progress, Target, TargetError } from '../provisioners/driver.ts'
import type { ProvisionerType } from '../provisioners/provisioner.ts'
import { alarmAfterFailures, backoffMs, type Drift, type EntitlementState, type Step, waitMs } from './entitlement.ts'

/** A pending grant. `begun`: an act that gives it was begun, with policy's permission. */
export type Waiting = { id: string; request_id: string; begun: boolean }

/** An entitlement as a run begins. */
export type EntitlementRow = Omit<EntitlementState, 'seen_now' | 'told_now' | 'wanted' | 'joining'> & {
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
  /** When it should end as of now, in milliseconds since 1970; null where no live grant wants it. */
  until_ms: number | null
  /** When the act that last gave it said that it would end. */
  given_until_ms: number | null
  act_polls: number
  failures: number
  /** The moment that made it due, to the microsecond: whoever sets another one meanwhile is not overruled. */
  due_at: string
}

/** So many pending grants of one entitlement are given in one run; the rest come in the next. */
export const maxWaiting = 50

/** What a run knows. */
export type Run = Readonly<
  EntitlementState &
    EntitlementRow & {
      /** The target's own name for the act of this run. */
      reference: string | null
    }
>

/** Something that the run has found out, or done. */
export type RunEvent =
  /** Policy refuses these of the grants that wait; they have failed. */
  | { type: 'refused'; ids: readonly string[] }
  /** It is written down that the act begins. */
  | { type: 'begun'; act: 'grant' | 'revoke' }
  /** The target answered an act, or the question how it is going. */
  | { type: 'answered'; step: 'grant' | 'revoke' | 'poll'; progress: Progress }
  /** The target itself was looked at; what was changed there by hand is kept. */
  | { type: 'seen'; observed: 'absent' | 'present'; drift: Drift | null }
  /** The grants that waited are active. */
  | { type: 'activated' }

/** The run as it begins. */
export function beginRun(row: EntitlementRow): Run {
  return { ...row, ...demand(row.held, row.waiting), told_now: null, seen_now: false, reference: row.act_reference }
}

/** What the run knows after the event. */
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
      // Done, as the target says; what it holds, only a look at it will say. An act is done again without harm.
      const told_now = step === 'poll' ? run.act : step
      return { ...run, reference, told_now, observed: 'unknown', act: null, act_reference: null }
    }
    case 'seen': {
      const drift = event.drift ?? run.drift
      return { ...run, drift, observed: event.observed, seen_now: true }
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
 * An act, a poll or a look failed. `giving`: it was to give access. `permanent`: grants that wait for it fail. `alarm`: what
 * should be taken away has failed so often that people are notified; it is retried. `may_land`: what was to give access may
 * have been begun all the same. `reference`: the target's own name for what failed.
 */
export type Failure = {
  message: string
  giving: boolean
  permanent: boolean
  clears_act: boolean
  alarm: boolean
  may_land: boolean
  reference: string | null
}

/** How a run leaves its entitlement. */
export type Ending = {
  /** Milliseconds until the next run; undefined: at the next deadline of its live grants. */
  wait_ms: number | undefined
  /**
   * What happened last: the act goes on at the target, to be asked about by a reference, and a live grant wanted the
   * entitlement or none did; or the target does not hold it: what was to be taken away is gone, by the act of that
   * reference; or something failed; or the act that was written down as begun was not, since the target had no room.
   * Undefined: nothing that is not written down.
   */
  last:
    | { under_way: string; wanted: boolean }
    | { gone: string | null }
    | { failure: Failure }
    | { unbegun: true }
    | undefined
}

/** What was decided on has changed: it runs again at once. */
export const runAgain: Ending = { wait_ms: 0, last: undefined }

/** Another has it: this run has nothing more to write. */
export const stop: Ending = { wait_ms: undefined, last: undefined }

/** Desired and observed agree. */
export function rest({ seen_now, observed, reference }: Run): Ending {
  return { wait_ms: undefined, last: seen_now && observed === 'absent' ? { gone: reference } : undefined }
}

/** The act goes on at the target: it is asked about after the wait. */
export function underWay({ wanted }: Run, under_way: string, poll_after_ms: number): Ending {
  return { wait_ms: waitMs(poll_after_ms), last: { under_way, wanted } }
}

/** No room for it now. What was written down as begun in this run was not: nobody shall look for what it may have left. */
export function comeBack({ act }: Run, step: Step, { after_ms }: NotNow): Ending {
  const unbegun = step === 'grant' && act === null
  return { wait_ms: waitMs(after_ms), last: unbegun ? { unbegun } : undefined }
}

/** A poll whose operation the target has lost is repeated so often; then the target itself is looked at. */
const maxPollFailures = 4

/** Nothing is given up: a revoke is retried indefinitely, a grant until its deadline or a refusal that will not pass. */
export function fail(run: Run, step: Step, { kind, message }: TargetError, random: number): Ending {
  const failures = run.failures + 1
  const lostTrack = step === 'poll' && (kind === 'permanent' || failures >= maxPollFailures)
  const begins = step === 'grant' || step === 'revoke'
  const failure = {
    message,
    giving: step === 'verify' ? run.wanted : (step === 'poll' ? run.act : step) === 'grant',
    permanent: kind === 'permanent',
    clears_act: begins || run.told_now !== null || lostTrack,
    alarm: failures >= alarmAfterFailures,
    may_land: (step === 'grant' || (lostTrack && run.act === 'grant')) && kind === 'transient',
    reference: begins ? null : run.reference,
  }
  return { wait_ms: backoffMs(failures, random), last: { failure } }
}

// ── Until when ─────────────────────────────────────────────────────────────────────────────────────────────────────────

/** So much before its grants a target may end it of itself. */
const earlyMs = 60_000

/** When access that is given now is to end. */
export function endOf({ until_ms }: Run): Date {
  return new Date(until_ms ?? 0)
}

/** What an act took its time for was given to end before its grants do, which begin only now. */
export function endsEarly({ told_now, given_until_ms, until_ms }: Run): boolean {
  return told_now === 'grant' && given_until_ms !== null && until_ms !== null && given_until_ms < until_ms - earlyMs
}

/** Until when the target must not end it: what was just given, as long as it was given for; null where nobody wants it. */
export function mustHoldUntil(run: Run): Date | null {
  if (!run.wanted) return null
  return new Date((endsEarly(run) ? run.given_until_ms : null) ?? (run.until_ms ?? 0) - earlyMs)
}

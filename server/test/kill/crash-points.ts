import type { InjectedFaults } from '../support/sandbox-faults.ts'
import type { TargetCall } from './field-target.ts'
import type { AnsweredBatch, Batch, Listener } from './wire-proxy.ts'

/** A step of the service's work, known by the statement it sends. */
type Step = {
  what: string
  /** All of them are in the statement's text. */
  in: readonly RegExp[]
  /** It is within one of the values bound to it. */
  value?: string
  /** It is sent although there may be nothing to do: it counts where it touched a row, so after it alone. */
  idle?: true
  /** It is sent although there may be nothing to do: it counts only while this question has an answer. */
  due?: string
  /** The faults of the target that bring it about. */
  injected?: InjectedFaults
  /** The call that it is where the target is not the sandbox: met there, and not as a statement. */
  call?: TargetCall
  /** It comes only where a target takes its time and is asked how it goes. */
  isOfPolls?: true
}

/**
 * Where the process dies: `before` a statement reaches the database, or `after` it is committed and the process has not
 * heard of it.
 */
export type CrashPoint = { name: string; moment: 'before' | 'after' } & Step

/** Whatever a turn has found is saved with the statement that gives its entitlement back. */
const closing = /update entitlement e set lease_until = null/
const grantIsOver = `select from access_grant where status = 'active' and expires_at <= clock_timestamp()`

/**
 * The steps of a grant's life. The audit entry has none of its own: the event is written by the very statement that
 * changes the state, so no moment lies between them; `findFaults` holds the two together.
 */
const steps = {
  asking: { what: 'a request is kept', in: [/insert into access_request/] },
  approval: {
    what: 'an approval and its grants are committed',
    in: [/update access_request set status/, /insert into access_grant/],
  },
  cancelling: {
    what: 'a request is cancelled',
    in: [/update access_request set status/, /next_look_at = null, lease_until = null/],
  },
  revoking: { what: 'somebody ends a grant early', in: [/set status = 'revoked'/] },
  'grant claimed': { what: 'a new grant is claimed', in: [/update access_grant w set generation/], idle: true },
  'grant planned': { what: 'a grant hangs on its entitlement', in: [/insert into entitlement/] },
  'entitlement claimed': { what: 'an entitlement is claimed', in: [/update entitlement w set generation/], idle: true },
  'end written': {
    what: 'a grant whose time is over is ended',
    in: [/set status = 'expired', ended_at/],
    due: grantIsOver,
  },
  'giving begun': {
    what: 'that access is about to be given is written down',
    in: [/update entitlement e set act = 'grant'/],
  },
  'taking begun': {
    what: 'that it is about to be taken away is written down',
    in: [/update entitlement e set act = 'revoke'/],
  },
  'create sent': {
    what: 'the target is told to give',
    in: [/insert into sandbox_operation/],
    value: 'create',
    call: 'create',
  },
  'delete sent': {
    what: 'the target is told to take away',
    in: [/insert into sandbox_operation/],
    value: 'delete',
    call: 'delete',
  },
  'reference kept': {
    what: 'the target’s reference is recorded',
    in: [closing],
    value: '"reference":"',
    isOfPolls: true,
  },
  polled: {
    what: 'the target is asked how it goes',
    in: [/update sandbox_operation/],
    injected: { polls: 3 },
    call: 'poll',
  },
  'target seen': { what: 'the target is looked at', in: [/select \w+ from sandbox_assignment/], call: 'look' },
  'presence kept': {
    what: 'what the target holds is saved, its grants begin',
    in: [/set observed = /, /set status = 'active', provisioning_status/],
  },
  'absence kept': { what: 'that the target holds it no more is saved', in: [closing], value: '"gone":true' },
  'failure kept': {
    what: 'a failure of the target is saved',
    in: [/failures = e.failures \+ 1/],
    injected: { throttled: 20 },
  },
  'look closed': { what: 'an entitlement is given back', in: [closing] },
  'cursor claimed': { what: 'events are claimed', in: [/update event_cursor/, /interval '20 seconds'/], idle: true },
  told: { what: 'somebody is told', in: [/insert into notification/] },
  'mails ordered': { what: 'the deliveries of events are written', in: [/insert into delivery \(/] },
  'mail begun': { what: 'that a mail is about to be sent is written down', in: [/update delivery set attempts/] },
  'mail ended': { what: 'that it was taken is written down', in: [/update delivery set status = 'delivered'/] },
  'lane closed': { what: 'a lane is given back', in: [/update delivery_lane l set lease_until = null/] },
  'cursor moved': { what: 'events are done with', in: [/update event_cursor set xid/] },
} as const satisfies Record<string, Step>

export type StepName = keyof typeof steps

export function pointAt(moment: CrashPoint['moment'], name: StepName): CrashPoint {
  return { name: `${moment}: ${name}`, moment, ...steps[name] }
}

/** Each step with its moments. */
export const crashPoints: readonly CrashPoint[] = Object.entries(steps).flatMap(([name, step]: [string, Step]) =>
  (['before', 'after'] as const)
    .filter((moment) => moment === 'after' || step.idle === undefined)
    .map((moment) => ({ name: `${moment}: ${name}`, moment, ...step })),
)

const claimedWork: readonly StepName[] = [
  ...(['grant planned', 'end written', 'giving begun', 'taking begun', 'create sent', 'delete sent'] as const),
  ...(['reference kept', 'polled', 'presence kept', 'absence kept', 'look closed', 'told', 'cursor moved'] as const),
]

/** Where a process may be stopped past its lease: before what it does about work that it has claimed. */
export const sleepingPoints: readonly CrashPoint[] = claimedWork.map((name) => pointAt('before', name))

/** Any batch at all. */
export const anyBatch: readonly CrashPoint[] = (['before', 'after'] as const).map((moment) => ({
  name: `${moment}: any statement`,
  moment,
  what: 'anything is sent',
  in: [],
}))

/** Where a step is met: what is done then is waited for before the batch, or its answer, goes on. */
export type Strike = () => void | Promise<void>

/** Calls `strike` when the point has come for the `nth` time. */
export function strikeAt(point: CrashPoint, nth: number, strike: Strike, holds: Holds): Listener {
  let left = nth
  const count: Strike = () => {
    left -= 1
    return left === 0 ? strike() : undefined
  }
  return meet(point, count, holds)
}

/** Answers whether a question to the database has an answer. */
export type Holds = (question: string) => Promise<boolean>

/** Calls `strike` whenever the point has come. */
export function meet(point: CrashPoint, strike: Strike, holds: Holds): Listener {
  /** Batches that were sent while there was something to do. */
  const due = new WeakSet<Batch['statements']>()
  const isDue = async ({ statements }: Batch) => {
    if (point.due === undefined || (await holds(point.due))) due.add(statements)
    return due.has(statements)
  }
  const isMet = async (batch: Batch) => indicesOf(point, batch).length > 0 && (await isDue(batch))
  if (point.moment === 'before') {
    return {
      async sent(batch) {
        if (await isMet(batch)) await strike()
      },
    }
  }
  return {
    async sent(batch) {
      await isMet(batch)
    },
    answered: afterCommit((batch) => due.has(batch.statements) && hasActed(point, batch), strike),
  }
}

/** Meets batches once they are committed, be it by a later batch of their transaction. */
function afterCommit(isMet: (batch: AnsweredBatch) => boolean, strike: Strike) {
  const uncommitted = new Set<number>()
  return (batch: AnsweredBatch) => {
    if (batch.failed || batch.statements.some(({ text }) => /^rollback/i.test(text))) {
      uncommitted.delete(batch.connection)
      return undefined
    }
    if (isMet(batch)) uncommitted.add(batch.connection)
    return !batch.isOpen && uncommitted.delete(batch.connection) ? strike() : undefined
  }
}

/** Whether the point's statement, where it may have had nothing to do, did something. */
function hasActed(point: CrashPoint, batch: AnsweredBatch): boolean {
  return point.idle !== true || indicesOf(point, batch).some((index) => (batch.rows[index] ?? 0) > 0)
}

/** Which statements of the batch are the point's. */
function indicesOf({ in: patterns, value }: CrashPoint, { statements }: Batch): number[] {
  return statements.flatMap(({ text, values }, index) => {
    const isIt = patterns.every((pattern) => pattern.test(text))
    return isIt && (value === undefined || values.some((bound) => bound?.includes(value))) ? [index] : []
  })
}

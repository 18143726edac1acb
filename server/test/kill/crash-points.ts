import type { InjectedFaults } from '../support/sandbox-faults.ts'
import type { TargetCall } from './field-target.ts'
import type { AnsweredBatch, Batch, Listener } from './wire-proxy.ts'

/** A step of the service's work, recognized by the statement that it sends. */
type Step = {
  what: string
  /** All of these match the statement's text. */
  in: readonly RegExp[]
  /** One of the bound values contains this. */
  value?: string
  /** The statement is also sent when there is nothing to do: the point counts only if it touched a row, so only after it. */
  idle?: true
  /** The statement is also sent when there is nothing to do: the point counts only while this query returns a row. */
  due?: string
  /** The faults of the target that lead to it. */
  injected?: InjectedFaults
  /** The matching call at a target other than the sandbox: the point is reached there, and not at a statement. */
  call?: TargetCall
  /** Reached only if a target works asynchronously and is polled. */
  isOfPolls?: true
}

/**
 * Where the process dies: `before` a statement reaches the database, or `after` it is committed and before the process
 * receives the answer.
 */
export type CrashPoint = { name: string; moment: 'before' | 'after' } & Step

/** The result of a job run is saved by the statement that releases its entitlement. */
const closing = /update entitlement e set lease_until = null/
const grantIsOver = `select from access_grant where status = 'active' and expires_at <= clock_timestamp()`

/**
 * The steps of a grant's life. The audit entry is no step of its own: the statement that changes the state also writes the
 * event, so no crash can separate them; `findFaults` checks that they match.
 */
const steps = {
  requesting: { what: 'a request is stored', in: [/insert into access_request/] },
  approval: {
    what: 'an approval and its grants are committed',
    in: [/update access_request set status/, /insert into access_grant/],
  },
  cancelling: {
    what: 'a request is cancelled',
    in: [/update access_request set status/, /next_look_at = null, lease_until = null/],
  },
  revoking: { what: 'a grant is ended early', in: [/set status = 'revoked'/] },
  'grant claimed': { what: 'a new grant is claimed', in: [/update access_grant w set generation/], idle: true },
  'grant planned': { what: 'a grant is linked to its entitlement', in: [/insert into entitlement/] },
  'entitlement claimed': { what: 'an entitlement is claimed', in: [/update entitlement w set generation/], idle: true },
  'end written': {
    what: 'a grant whose time is over is ended',
    in: [/set status = 'expired', ended_at/],
    due: grantIsOver,
  },
  'giving begun': {
    what: 'the intent to give access is recorded',
    in: [/update entitlement e set act = 'grant'/],
  },
  'taking begun': {
    what: 'the intent to revoke access is recorded',
    in: [/update entitlement e set act = 'revoke'/],
  },
  'create sent': {
    what: 'the target is called to give access',
    in: [/insert into sandbox_operation/],
    value: 'create',
    call: 'create',
  },
  'delete sent': {
    what: 'the target is called to revoke access',
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
    what: 'the target is polled',
    in: [/update sandbox_operation/],
    injected: { polls: 3 },
    call: 'poll',
  },
  'target seen': { what: 'the target is checked', in: [/select \w+ from sandbox_assignment/], call: 'verify' },
  'presence kept': {
    what: 'the access found at the target is saved, its grants begin',
    in: [/set observed = /, /set status = 'active', provisioning_status/],
  },
  'absence kept': { what: 'the access gone from the target is saved', in: [closing], value: '"gone":true' },
  'failure kept': {
    what: 'a failure of the target is saved',
    in: [/failures = e.failures \+ 1/],
    injected: { throttled: 20 },
  },
  'check closed': { what: 'an entitlement is released', in: [closing] },
  'events queued': {
    what: 'events are put into the queues of their tenants',
    in: [/insert into event_queue/],
    idle: true,
  },
  'events claimed': { what: 'a queue of events is claimed', in: [/update event_queue w set generation/], idle: true },
  notified: { what: 'a user is notified', in: [/insert into notification/] },
  'mails ordered': { what: 'the deliveries of events are written', in: [/insert into delivery \(/] },
  'mail begun': { what: 'the intent to send a mail is recorded', in: [/update delivery set attempts/] },
  'mail ended': { what: 'the accepted mail is recorded', in: [/update delivery set status = 'delivered'/] },
  'own mail begun': {
    what: 'the intent to mail a notification is recorded',
    in: [/update notification_mail m set attempts/],
  },
  'own mail ended': {
    what: 'the accepted mail of a notification is recorded',
    in: [/update notification_mail m set state = 'sent'/],
  },
  'queue closed': { what: 'a recipient queue is released', in: [/update delivery_lane l set lease_until = null/] },
  'events delivered': { what: 'events are marked as delivered', in: [/update event_queue set \(xid, seq\)/] },
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
  ...([
    'reference kept',
    'polled',
    'presence kept',
    'absence kept',
    'check closed',
    'notified',
    'events delivered',
  ] as const),
]

/** Points where a process may be stopped past its lease: before it acts on work that it has claimed. */
export const sleepingPoints: readonly CrashPoint[] = claimedWork.map((name) => pointAt('before', name))

/** Any batch at all. */
export const anyBatch: readonly CrashPoint[] = (['before', 'after'] as const).map((moment) => ({
  name: `${moment}: any statement`,
  moment,
  what: 'any statement is sent',
  in: [],
}))

/** The action at a step; the batch, or its answer, waits until it is done. */
export type Strike = () => void | Promise<void>

/** Calls `strike` when the point is reached for the `nth` time. */
export function strikeAt(point: CrashPoint, nth: number, strike: Strike, holds: Holds): Listener {
  let left = nth
  const count: Strike = () => {
    left -= 1
    return left === 0 ? strike() : undefined
  }
  return meet(point, count, holds)
}

/** Returns whether a database query has a row. */
export type Holds = (text: string) => Promise<boolean>

/** Calls `strike` whenever the point is reached. */
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

/** Matches batches once they are committed, also by a later batch of their transaction. */
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

/** Whether the point's statement changed something, if it may also have had nothing to do. */
function hasActed(point: CrashPoint, batch: AnsweredBatch): boolean {
  return point.idle !== true || indicesOf(point, batch).some((index) => (batch.rows[index] ?? 0) > 0)
}

/** The indices of the point's statements in the batch. */
function indicesOf({ in: patterns, value }: CrashPoint, { statements }: Batch): number[] {
  return statements.flatMap(({ text, values }, index) => {
    const isIt = patterns.every((pattern) => pattern.test(text))
    return isIt && (value === undefined || values.some((bound) => bound?.includes(value))) ? [index] : []
  })
}

import { type Held, NotNow, type Progress, TargetError } from '../driver.ts'
import { isAssigned } from './assignments.ts'
import { AwsRefusal, type Center, ifThere, isGone } from './center.ts'
import { cutSessions, followCut, readStep } from './cutting.ts'
import { begin, FailedOperation, look, readReference } from './operations.ts'
import {
  checkPolicy,
  deleteSet,
  ensureOwnSet,
  findHeld,
  findOurs,
  isProvisioned,
  type OwnAssignment,
} from './own-sets.ts'
import { describeSet } from './permission-sets.ts'
import { findAccountState } from './plan.ts'
import type { QueueLimits } from './priority-queue.ts'
import { endSessions } from './sessions.ts'
import { type Assignment, keyIn, type SetAssignment } from './target.ts'

/** Gives the assignment, unless it exists: AWS would repeat it at the cost of an operation. */
export async function give(
  center: Center,
  assignment: Assignment,
  until: Date,
  queueLimits: QueueLimits,
): Promise<Progress> {
  if (!('own_set' in assignment)) {
    const arn = assignment.permission_set_arn
    if (!(await isUnassigned(center, assignment, arn, queueLimits))) return { done: true }
    return create(center, assignment, arn, queueLimits)
  }
  const known = center.names.arnOf(assignment.own_set.name)
  try {
    return await giveOwn(center, assignment, until, queueLimits)
  } catch (error) {
    if (known === undefined || !isGone(error)) throw error
    // The set was deleted since an earlier answer.
    center.answers.forget(keyIn(center, assignment))
    return giveOwn(center, assignment, until, queueLimits)
  }
}

async function giveOwn(
  center: Center,
  assignment: OwnAssignment,
  until: Date,
  queueLimits: QueueLimits,
): Promise<Progress> {
  const arn = await ensureOwnSet(center, assignment, until, queueLimits)
  if (await isUnassigned(center, assignment, arn, queueLimits)) return create(center, assignment, arn, queueLimits)
  if (await isProvisioned(center, assignment, arn, queueLimits)) return { done: true }
  return begin(center, 'provision', assignment, arn, queueLimits)
}

const unassigned = (arn: string) => `${arn} is not assigned`

/** Asks once in an act, until the call that assigns it was sent. */
async function isUnassigned(
  center: Center,
  assignment: Assignment,
  arn: string,
  queueLimits: QueueLimits,
): Promise<boolean> {
  const key = keyIn(center, assignment)
  if (center.answers.has(key, unassigned(arn))) return true
  if (await isAssigned(center, assignment, arn, queueLimits)) return false
  center.answers.note(key, unassigned(arn))
  return true
}

async function create(
  center: Center,
  assignment: Assignment,
  arn: string,
  queueLimits: QueueLimits,
): Promise<Progress> {
  const forget = () => center.answers.forgetOne(keyIn(center, assignment), unassigned(arn))
  try {
    const progress = await begin(center, 'create', assignment, arn, queueLimits)
    forget()
    return progress
  } catch (error) {
    // AWS refused a call that is not now, and began nothing.
    if (!(error instanceof NotNow)) forget()
    throw error
  }
}

/** Removes the assignment without a check that it exists: removing an absent one also succeeds. */
export async function takeAway(center: Center, assignment: Assignment, queueLimits: QueueLimits): Promise<Progress> {
  const arn = await setToTake(center, assignment, queueLimits)
  if (arn === undefined) return finish(center, assignment, undefined, { done: true }, queueLimits)
  const begun = await ifThere(begin(center, 'delete', assignment, arn, queueLimits)).catch((error: unknown) =>
    judgeFailure(center, assignment, arn, error, queueLimits),
  )
  // The set or the account does not exist, so nobody has the assignment.
  const progress: Progress = begun ?? { done: true }
  return progress.done ? finish(center, assignment, arn, progress, queueLimits) : progress
}

/** Polls an operation, and takes its next steps. */
export async function follow(
  center: Center,
  assignment: Assignment,
  reference: string,
  queueLimits: QueueLimits,
): Promise<Progress> {
  const step = readStep(reference)
  if (step !== undefined && !('own_set' in assignment)) return followCut(center, assignment, step, queueLimits)
  if (readReference(reference).kind !== 'delete') return look(center, reference, assignment, queueLimits)
  const progress = await look(center, reference, assignment, queueLimits).catch(async (error: unknown) =>
    judgeFailure(center, assignment, await setToTake(center, assignment, queueLimits), error, queueLimits),
  )
  if (!progress.done) return progress
  if ('permission_set_arn' in assignment && center.config.cut_sessions) {
    // After a late poll the assignment may be a new one, whose sessions must live; or the list is late, and is read again.
    if (await isAssigned(center, assignment, assignment.permission_set_arn, queueLimits))
      throw new TargetError('transient', 'AWS reports the assignment as removed, and still lists it')
  }
  return finish(center, assignment, await setToTake(center, assignment, queueLimits), progress, queueLimits)
}

async function setToTake(
  center: Center,
  assignment: Assignment,
  queueLimits: QueueLimits,
): Promise<string | undefined> {
  return 'own_set' in assignment ? findOurs(center, assignment, queueLimits) : assignment.permission_set_arn
}

/**
 * Judges a failed deletion. It is done when the assignment no longer exists. It is begun again when AWS found nothing to delete,
 * but the assignment exists now. Otherwise the error is thrown, with the account's status when that explains it.
 */
async function judgeFailure(
  center: Center,
  assignment: Assignment,
  arn: string | undefined,
  error: unknown,
  queueLimits: QueueLimits,
): Promise<Progress> {
  if (!(error instanceof FailedOperation)) throw error
  if (arn === undefined || !(await isAssigned(center, assignment, arn, queueLimits))) return { done: true }
  if (saysNotThere.test(error.message)) return begin(center, 'delete', assignment, arn, queueLimits)
  const state = await findAccountState(center, assignment.account_id, queueLimits.signal)
  if (state === undefined) return { done: true }
  const why = state === 'ACTIVE' ? '' : `; the account ${assignment.account_id} is ${state}`
  throw new AwsRefusal('transient', `${error.message}${why}`, error.code)
}

const saysNotThere = /\b404\b|does ?n.t exist|not found/i

/** After the assignment is gone, deletes its own set, and ends sessions if the config allows it. */
async function finish(
  center: Center,
  assignment: Assignment,
  arn: string | undefined,
  progress: Progress,
  queueLimits: QueueLimits,
): Promise<Progress> {
  if (!('own_set' in assignment)) return finishSet(center, assignment, progress, queueLimits)
  if (arn !== undefined) await deleteSet(center, assignment, arn, queueLimits)
  await endSessions(center, assignment, queueLimits.signal)
  return progress
}

async function finishSet(
  center: Center,
  assignment: SetAssignment,
  progress: Progress,
  queueLimits: QueueLimits,
): Promise<Progress> {
  if (center.config.cut_sessions) return cutSessions(center, assignment, undefined, queueLimits)
  if (assignment.cuts === undefined) return progress
  // The config changed since the plan.
  const { session_seconds = null } = (await describeSet(center, assignment.permission_set_arn, queueLimits)) ?? {}
  return { ...progress, sessions: { seconds: session_seconds, note: null } }
}

/** The state that AWS shows. `given`: the end that the last act of Sallyport gave it; null if it is not known. */
export async function seen(
  center: Center,
  assignment: Assignment,
  { until, given }: { until: Date | null; given: Date | null },
  queueLimits: QueueLimits,
): Promise<Held> {
  const held = await read()
  // The work on it is at its end.
  if (held === (until === null ? 'absent' : 'held')) center.answers.forget(keyIn(center, assignment))
  return held

  async function read(): Promise<Held> {
    if ('own_set' in assignment) return seenOwn(center, assignment, { until, given }, queueLimits)
    return (await isAssigned(center, assignment, assignment.permission_set_arn, queueLimits)) ? 'held' : 'absent'
  }
}

async function seenOwn(
  center: Center,
  assignment: OwnAssignment,
  { until, given }: { until: Date | null; given: Date | null },
  queueLimits: QueueLimits,
): Promise<Held> {
  const arn = await findHeld(center, assignment, queueLimits)
  if (arn === undefined) return 'absent'
  if (until === null) return 'held'
  const policy = await checkPolicy(center, assignment, { arn, until, given }, queueLimits)
  if (policy !== 'held') {
    // It is not what an earlier answer to this act said.
    center.answers.forget(keyIn(center, assignment))
    return policy
  }
  return (await isProvisioned(center, assignment, arn, queueLimits)) ? 'held' : 'changed'
}

/** Whether the act that a reference names removes access: it goes before those that give access. */
export function takesAway(reference: string): boolean {
  return readStep(reference) !== undefined || readReference(reference).kind === 'delete'
}

import { NotNow, type Progress, TargetError } from '../driver.ts'
import { listAccounts } from './assignments.ts'
import { AwsRefusal, type Center, ifThere } from './center.ts'
import { begin, FailedOperation, look, orConflict } from './operations.ts'
import { describeSet } from './permission-sets.ts'
import { findAccountState } from './plan.ts'
import type { QueueLimits } from './priority-queue.ts'
import { type Cut, hasCut, maxSessionSeconds, type NoCut, withCut, withoutPastCuts } from './session-cuts.ts'
import type { SetAssignment } from './target.ts'

/** A write follows from a reading that is at most so old when it is sent. */
const maxReadingMs = 2_000
/** A write that is not answered in this time is given up. */
const maxWriteMs = 5_000
const maxReadings = 5

/**
 * The steps of a cut, by reference. `cut`: the set, with the statement in its policy, is being provisioned in the account. `kept`: the
 * account has it; the policy is read again after a while, because a write by another process may have replaced it.
 */
type Step = { step: 'cut'; id: string; before: Date } | { step: 'kept'; id: string; before: Date; again: Date }

const form = /^(cut|kept):([0-9a-f-]{36}):(\d{1,12})(?::(\d{1,12}))?$/

/** The step that a reference names; undefined for a reference of another act. */
export function readStep(reference: string): Step | undefined {
  const [, step, id = '', before, again] = form.exec(reference) ?? []
  if (step === undefined) return undefined
  const whole = { id, before: new Date(Number(before) * 1_000) }
  return step === 'cut' ? { step, ...whole } : { step: 'kept', ...whole, again: new Date(Number(again ?? 0) * 1_000) }
}

function referenceOf(step: Step): string {
  const seconds = (moment: Date) => moment.getTime() / 1_000
  const again = step.step === 'kept' ? `:${seconds(step.again)}` : ''
  return `${step.step}:${step.id}:${seconds(step.before)}${again}`
}

/**
 * Cuts the sessions of the person in the account: those issued before now, or before the moment that an earlier step chose. The
 * assignment is gone, so no session is issued any more. Each step can be repeated.
 */
export async function cutSessions(
  center: Center,
  assignment: SetAssignment,
  before: Date | undefined,
  queueLimits: QueueLimits,
): Promise<Progress> {
  // AWS removes the set's role from an account together with the last assignment there.
  if (!(await hasRole(center, assignment, queueLimits))) return nothingLeft(center, assignment, queueLimits)
  const written = await writeCut(center, assignment, before, queueLimits)
  if (written === undefined) return nothingLeft(center, assignment, queueLimits)
  if ('why' in written) return uncut(center, assignment, reasons[written.why], queueLimits)
  const begun = await ifThere(begin(center, 'provision', assignment, assignment.permission_set_arn, queueLimits))
  if (begun === undefined) return nothingLeft(center, assignment, queueLimits)
  const [, id] = begun.reference?.split(':') ?? []
  if (id === undefined) throw new TargetError('transient', 'AWS provisioned the permission set without an id')
  return { done: false, reference: referenceOf({ step: 'cut', id, before: written.before }) }
}

/** Polls a step, and takes the next ones. */
export async function followCut(
  center: Center,
  assignment: SetAssignment,
  step: Step,
  queueLimits: QueueLimits,
): Promise<Progress> {
  const { id, before } = step
  if (step.step === 'cut') {
    const progress = await provisioned(center, assignment, id, queueLimits)
    if (progress === undefined) return nothingLeft(center, assignment, queueLimits)
    if (!progress.done) return { done: false, reference: referenceOf(step) }
  }
  const cut = { person: assignment.principal_id, before }
  const policy = (await readPolicy(center, assignment.permission_set_arn, queueLimits)) ?? ''
  const now = timeOf(center)
  // Also if the policy was replaced while it was provisioned: the account may have one without the cut.
  const isKept = hasCut(policy, cut, now) && (step.step === 'kept' || (await isLatest(center, assignment, queueLimits)))
  if (!isKept) return cutSessions(center, assignment, before, queueLimits)
  const again = step.step === 'kept' ? step.again : new Date(now.getTime() + center.readAgainSeconds * 1_000)
  if (now < again || step.step === 'cut')
    return { done: false, reference: referenceOf({ step: 'kept', id, before, again }) }
  return { done: true, reference: `provision:${id}`, sessions: { seconds: 0, note: null } }
}

/** The state of the provisioning; undefined when it failed because the set's role is no longer in the account. */
async function provisioned(
  center: Center,
  assignment: SetAssignment,
  id: string,
  queueLimits: QueueLimits,
): Promise<Progress | undefined> {
  try {
    return await look(center, `provision:${id}`, assignment, queueLimits)
  } catch (error) {
    if (!(error instanceof FailedOperation) || (await hasRole(center, assignment, queueLimits))) throw error
    return undefined
  }
}

export const reasons: Record<NoCut | 'refused', string> = {
  unreadable: 'the inline policy of the permission set cannot be rewritten without a change of its meaning',
  full: 'the inline policy of the permission set has no room for another statement',
  refused: 'AWS refused the inline policy with another statement',
}

/** The revoke is done without a cut: the record says how long sessions live, and why. */
async function uncut(
  center: Center,
  { permission_set_arn }: SetAssignment,
  why: string,
  queueLimits: QueueLimits,
): Promise<Progress> {
  const { session_seconds = null } = (await describeSet(center, permission_set_arn, queueLimits)) ?? {}
  return { done: true, sessions: { seconds: session_seconds, note: `sessions were not cut: ${why}` } }
}

/** The role is gone from the account, and with it what its sessions may do; but AWS does not reach into an account that left. */
async function nothingLeft(center: Center, assignment: SetAssignment, queueLimits: QueueLimits): Promise<Progress> {
  const state = await findAccountState(center, assignment.account_id, queueLimits.signal)
  if (state === undefined) return uncut(center, assignment, 'the account has left the organization', queueLimits)
  return { done: true, sessions: { seconds: 0, note: null } }
}

async function hasRole(center: Center, assignment: SetAssignment, queueLimits: QueueLimits): Promise<boolean> {
  const { account_id, permission_set_arn } = assignment
  return (await listAccounts(center, permission_set_arn, queueLimits)).includes(account_id)
}

async function isLatest(center: Center, assignment: SetAssignment, queueLimits: QueueLimits): Promise<boolean> {
  const { account_id, permission_set_arn } = assignment
  const latest = 'LATEST_PERMISSION_SET_PROVISIONED'
  return (await listAccounts(center, permission_set_arn, queueLimits, latest)).includes(account_id)
}

/** Undefined when there is no such set. */
function writeCut(
  center: Center,
  { permission_set_arn, principal_id }: SetAssignment,
  chosen: Date | undefined,
  queueLimits: QueueLimits,
): Promise<Cut | { why: NoCut | 'refused' } | undefined> {
  return rewrite<Cut | { why: NoCut }>(center, permission_set_arn, queueLimits, async (text, now) => {
    // AWS shows its time in whole seconds: a session issued within the second of the end is older than the next one.
    const cut = { person: principal_id, before: chosen ?? new Date(now.getTime() + 1_000) }
    let changed = withCut(text, cut, now, maxSessionSeconds)
    if ('why' in changed && changed.why === 'full') {
      const { session_seconds } = (await describeSet(center, permission_set_arn, queueLimits)) ?? {}
      changed = withCut(text, cut, now, session_seconds ?? maxSessionSeconds)
    }
    return 'why' in changed ? { answer: changed } : { policy: changed.policy, answer: cut }
  })
}

/** Removes cuts that deny nothing any more from a set's policy. The roles in accounts get that with the next provisioning. */
export async function dropPastCuts(center: Center, arn: string, queueLimits: QueueLimits): Promise<void> {
  await rewrite(center, arn, queueLimits, async (text, now) => ({
    policy: withoutPastCuts(text, now),
    answer: undefined,
  }))
}

/** The inline policy of a set; undefined when there is no such set. */
export async function readPolicy(center: Center, arn: string, queueLimits: QueueLimits): Promise<string | undefined> {
  return (await readNow(center, arn, queueLimits))?.text
}

/** The same, with the moment when the call was sent: it may have waited for the rate limit. */
async function readNow(center: Center, PermissionSetArn: string, queueLimits: QueueLimits) {
  const InstanceArn = center.config.instance_arn
  let sentAt = 0
  const answer = await ifThere(
    center.sso('GetInlinePolicyForPermissionSet', queueLimits, (client, options) => {
      sentAt = performance.now()
      return client.getInlinePolicyForPermissionSet({ InstanceArn, PermissionSetArn }, options)
    }),
  )
  return answer && { text: answer.InlinePolicy ?? '', sentAt }
}

/** The time at AWS: the issue time of sessions is by the same clock. */
function timeOf({ aws }: Center): Date {
  const time = aws.time()
  if (time === undefined) throw new TargetError('transient', 'AWS answered without the time')
  return time
}

type Rule<Answer> = (text: string, now: Date) => Promise<{ policy?: string; answer: Answer }>

/**
 * Changes a set's policy by a rule: reads, and writes if it changed. One at a time in this process. AWS has no conditional write, so
 * a write of another process between the two is lost: a reading is used for two seconds at most, and `followCut` reads again
 * when no write that follows from an older reading can be on its way. Undefined when there is no such set.
 */
function rewrite<Answer>(
  center: Center,
  arn: string,
  queueLimits: QueueLimits,
  rule: Rule<Answer>,
): Promise<Answer | { why: 'refused' } | undefined> {
  const work = async () => {
    for (let readings = 0; readings < maxReadings; readings += 1) {
      const outcome = await rewriteOnce(center, arn, queueLimits, rule)
      if (outcome !== 'late') return outcome?.answer
    }
    throw new NotNow(1_000)
  }
  return center.policyWrites.run(work, { key: arn, isUrgent: queueLimits.urgent, signal: queueLimits.signal })
}

/** Reads when the write has its place in the rate limit already, so that it follows at once. */
async function rewriteOnce<Answer>(
  center: Center,
  PermissionSetArn: string,
  queueLimits: QueueLimits,
  rule: Rule<Answer>,
): Promise<{ answer: Answer | { why: 'refused' } } | 'late' | undefined> {
  const set = { InstanceArn: center.config.instance_arn, PermissionSetArn }
  const rewriting = center.sso('PutInlinePolicyToPermissionSet', queueLimits, async (client, { abortSignal }) => {
    const reading = await readNow(center, PermissionSetArn, queueLimits)
    if (reading === undefined) return undefined
    const { policy: InlinePolicy = reading.text, answer } = await rule(reading.text, timeOf(center))
    if (InlinePolicy === reading.text) return { answer }
    if (performance.now() - reading.sentAt > maxReadingMs) return 'late'
    const options = { abortSignal: AbortSignal.any([abortSignal, AbortSignal.timeout(maxWriteMs)]) }
    if (InlinePolicy === '') await client.deleteInlinePolicyFromPermissionSet(set, options)
    else await client.putInlinePolicyToPermissionSet({ ...set, InlinePolicy }, options)
    return { answer }
  })
  try {
    return await orConflict(rewriting)
  } catch (error) {
    const isRefused = error instanceof AwsRefusal && /^(?:ServiceQuotaExceeded|Validation)Exception$/.test(error.code)
    if (isRefused) return { answer: { why: 'refused' } }
    throw error
  }
}

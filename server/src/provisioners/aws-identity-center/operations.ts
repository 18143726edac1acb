import { NotNow, type Progress, TargetError } from '../driver.ts'
import { AwsRefusal, type Center, ifThere } from './center.ts'
import type { QueueLimits } from './priority-queue.ts'
import { type Assignment, keyOf } from './target.ts'

/** The kinds of asynchronous operations of AWS, which are polled by an id. */
export type Kind = 'create' | 'delete' | 'provision'

/** AWS's status of an operation. */
type Status = { Status?: string | undefined; RequestId?: string | undefined; FailureReason?: string | undefined }

/** An operation that failed at AWS. */
export class FailedOperation extends AwsRefusal {}

/** Reads the kind of an operation and its AWS id from a reference. */
export function readReference(reference: string): { kind: Kind; id: string } {
  const [, kind, id] = /^(create|delete|provision):([0-9a-f-]{36})$/.exec(reference) ?? []
  if (kind === undefined || id === undefined)
    throw new TargetError('transient', `\`${reference}\` is not a reference of an operation`)
  return { kind: kind as Kind, id }
}

/**
 * A call that gives access waits for room no longer than this, then retries later. Polls of operations in flight make room, and
 * the ledger runs those polls only when other work of the tenant has been released.
 */
const maxQueuedMs = 1_000

function queueLimitsOf(queueLimits: QueueLimits): QueueLimits {
  if (queueLimits.urgent) return queueLimits
  return { ...queueLimits, until: Math.min(queueLimits.until, performance.now() + maxQueuedMs) }
}

/** Begins an operation on an account, when there is room for it. */
export async function begin(
  center: Center,
  kind: Kind,
  { account_id, principal_id }: Assignment,
  PermissionSetArn: string,
  queueLimits: QueueLimits,
): Promise<Progress> {
  const InstanceArn = center.config.instance_arn
  const person = { PrincipalType: 'USER', PrincipalId: principal_id } as const
  const account = { TargetType: 'AWS_ACCOUNT', TargetId: account_id } as const
  const assignment = { InstanceArn, PermissionSetArn, ...person, ...account }
  const calls: Record<Kind, () => Promise<Status | undefined>> = {
    create: async () =>
      (
        await center.sso('CreateAccountAssignment', queueLimits, (client, options) =>
          client.createAccountAssignment(assignment, options),
        )
      ).AccountAssignmentCreationStatus,
    delete: async () =>
      (
        await center.sso('DeleteAccountAssignment', queueLimits, (client, options) =>
          client.deleteAccountAssignment(assignment, options),
        )
      ).AccountAssignmentDeletionStatus,
    provision: async () =>
      (
        await center.sso('ProvisionPermissionSet', queueLimits, (client, options) =>
          client.provisionPermissionSet({ InstanceArn, PermissionSetArn, ...account }, options),
        )
      ).PermissionSetProvisioningStatus,
  }
  let done: Progress = { done: true }
  const operation = { account: account_id, key: `${account_id} ${PermissionSetArn} ${principal_id}`, name: kind }
  const id = await center.rateLimiter.operate(operation, queueLimitsOf(queueLimits), async () => {
    const progress = progressOf(kind, await orConflict(calls[kind]()), undefined)
    if (!progress.done) return readReference(progress.reference).id
    done = progress
    return undefined
  })
  return id === undefined ? done : { done: false, reference: `${kind}:${id}` }
}

/** Polls an operation. One that AWS reported as done is not polled again: what it did is read by a check. @throws FailedOperation */
export async function look(
  center: Center,
  reference: string,
  assignment: Assignment,
  queueLimits: QueueLimits,
): Promise<Progress> {
  const { kind, id } = readReference(reference)
  const InstanceArn = center.config.instance_arn
  const [key, isDone] = [keyOf(InstanceArn, assignment), `${reference} is done`]
  if (center.answers.has(key, isDone)) return { done: true, reference }
  const calls: Record<Kind, () => Promise<Status | undefined>> = {
    create: async () =>
      (
        await center.sso('DescribeAccountAssignmentCreationStatus', queueLimits, (client, options) =>
          client.describeAccountAssignmentCreationStatus(
            { InstanceArn, AccountAssignmentCreationRequestId: id },
            options,
          ),
        )
      ).AccountAssignmentCreationStatus,
    delete: async () =>
      (
        await center.sso('DescribeAccountAssignmentDeletionStatus', queueLimits, (client, options) =>
          client.describeAccountAssignmentDeletionStatus(
            { InstanceArn, AccountAssignmentDeletionRequestId: id },
            options,
          ),
        )
      ).AccountAssignmentDeletionStatus,
    provision: async () =>
      (
        await center.sso('DescribePermissionSetProvisioningStatus', queueLimits, (client, options) =>
          client.describePermissionSetProvisioningStatus({ InstanceArn, ProvisionPermissionSetRequestId: id }, options),
        )
      ).PermissionSetProvisioningStatus,
  }
  center.rateLimiter.underWay(id, assignment.account_id)
  const answer = await ifThere(calls[kind]())
  if (answer?.Status !== 'IN_PROGRESS') center.rateLimiter.ended(id)
  if (answer === undefined) throw new TargetError('transient', `AWS no longer knows the request ${id}`)
  const progress = progressOf(kind, answer, id)
  if (progress.done) center.answers.note(key, isDone)
  return progress
}

function progressOf(kind: Kind, status: Status | undefined, known_id: string | undefined): Progress {
  const { Status, RequestId = known_id, FailureReason = 'no reason was given' } = status ?? {}
  if (Status === 'FAILED') {
    const passes = /throttl|internal|timed? ?out|timeout|try again|unavailable|conflict|concurrent/i.test(FailureReason)
    const message = `AWS failed to ${wordsOf[kind]}: ${FailureReason.slice(0, 500)} (request ${RequestId})`
    throw new FailedOperation(passes ? 'transient' : 'permanent', message, 'FAILED')
  }
  const reference = RequestId === undefined ? {} : { reference: `${kind}:${RequestId}` }
  if (Status === 'SUCCEEDED') return { done: true, ...reference }
  if (reference.reference === undefined) throw new TargetError('transient', 'AWS began the operation without an id')
  return { done: false, reference: reference.reference }
}

const wordsOf: Record<Kind, string> = {
  create: 'assign it',
  delete: 'remove the assignment',
  provision: 'provision the permission set in the account',
}

/** Turns a conflict with another operation into `NotNow`, with a short, random delay. */
export async function orConflict<Answer>(call: Promise<Answer>): Promise<Answer> {
  try {
    return await call
  } catch (error) {
    if (error instanceof AwsRefusal && error.code === 'ConflictException') throw new Conflict(error)
    throw error
  }
}

/** The account or the set is busy with another operation, of Sallyport or of others. */
export class Conflict extends NotNow {
  readonly refusal: AwsRefusal

  constructor(refusal: AwsRefusal) {
    super(Math.round(1_000 + Math.random() * 3_000))
    this.refusal = refusal
  }
}

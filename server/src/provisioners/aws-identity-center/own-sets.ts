import { TargetError } from '../driver.ts'
import { listAccounts, listHolders, listSetsOf } from './assignments.ts'
import { AwsRefusal, type Center, ifThere } from './center.ts'
import { Conflict } from './operations.ts'
import { cutOffAfter, cutOffOf, inlinePolicyOf, type OwnSet, tagKeys } from './own-set.ts'
import { nameOfSet, searchSet } from './permission-sets.ts'
import type { QueueLimits } from './priority-queue.ts'
import { type Assignment, keyIn } from './target.ts'

/** An assignment of a permission set that Sallyport makes for it. */
export type OwnAssignment = Extract<Assignment, { own_set: OwnSet }>

/**
 * Finds or makes the own set; its policy allows access until shortly after `until`. Returns its ARN. What AWS answered to an attempt that was
 * interrupted is not asked again.
 */
export async function ensureOwnSet(
  center: Center,
  assignment: OwnAssignment,
  until: Date,
  queueLimits: QueueLimits,
): Promise<string> {
  const arn = (await reuseSet(center, assignment, queueLimits)) ?? (await makeSet(center, assignment, queueLimits))
  const key = keyIn(center, assignment)
  const cutOff = cutOffAfter(until)
  const hasPolicy = `policy of ${arn} until ${cutOff.toISOString()}`
  if (center.answers.has(key, hasPolicy)) return arn
  const { instance_arn: InstanceArn } = center.config
  const { account_id, own_set } = assignment
  if ((await policyEnd(center, assignment, arn, queueLimits))?.getTime() !== cutOff.getTime()) {
    const InlinePolicy = inlinePolicyOf(center.partition, account_id, own_set.gives, cutOff)
    await center.sso('PutInlinePolicyToPermissionSet', queueLimits, (client, options) =>
      client.putInlinePolicyToPermissionSet({ InstanceArn, PermissionSetArn: arn, InlinePolicy }, options),
    )
  }
  center.answers.note(key, hasPolicy)
  return arn
}

/**
 * Whether the set's policy is the one that Sallyport put there, and allows access until then. `given`: the end that the last act gave it; a policy
 * with another end is not of that act. Null: it is not known.
 */
export async function checkPolicy(
  center: Center,
  assignment: OwnAssignment,
  { arn, until, given }: { arn: string; until: Date | null; given: Date | null },
  queueLimits: QueueLimits,
): Promise<'held' | 'ends_early' | 'changed'> {
  const end = await policyEnd(center, assignment, arn, queueLimits)
  if (end === undefined || (given !== null && end.getTime() !== cutOffAfter(given).getTime())) return 'changed'
  return until !== null && end < until ? 'ends_early' : 'held'
}

/** When the set's policy expires by itself; undefined when it is not the policy that Sallyport set. */
async function policyEnd(
  center: Center,
  { account_id, own_set }: OwnAssignment,
  PermissionSetArn: string,
  queueLimits: QueueLimits,
): Promise<Date | undefined> {
  const InstanceArn = center.config.instance_arn
  const answer = await ifThere(
    center.sso('GetInlinePolicyForPermissionSet', queueLimits, (client, options) =>
      client.getInlinePolicyForPermissionSet({ InstanceArn, PermissionSetArn }, options),
    ),
  )
  return cutOffOf(center.partition, account_id, own_set.gives, answer?.InlinePolicy ?? '')
}

/** Whether the account's role matches the current set. Only then a new policy is effective there. */
export async function isProvisioned(
  center: Center,
  { account_id }: Assignment,
  PermissionSetArn: string,
  queueLimits: QueueLimits,
): Promise<boolean> {
  const InstanceArn = center.config.instance_arn
  const ProvisioningStatus = 'LATEST_PERMISSION_SET_PROVISIONED'
  const answer = await ifThere(
    center.sso('ListAccountsForProvisionedPermissionSet', queueLimits, (client, options) =>
      client.listAccountsForProvisionedPermissionSet({ InstanceArn, PermissionSetArn, ProvisioningStatus }, options),
    ),
  )
  return answer?.AccountIds?.includes(account_id) ?? false
}

/** The set of that name if it is cached. An unknown one is found when its creation conflicts. */
async function reuseSet(
  center: Center,
  assignment: OwnAssignment,
  queueLimits: QueueLimits,
): Promise<string | undefined> {
  const { own_set } = assignment
  const known = center.names.arnOf(own_set.name)
  return known === undefined ? undefined : takeOver(center, assignment, known, queueLimits)
}

/** Checks by its tag that the set belongs to the tenant, and marks it for session recording if needed; undefined when it is gone. */
async function takeOver(
  center: Center,
  assignment: OwnAssignment,
  arn: string,
  queueLimits: QueueLimits,
): Promise<string | undefined> {
  const { own_set } = assignment
  const [key, isTagged] = [keyIn(center, assignment), taggedAs(arn, own_set)]
  if (center.answers.has(key, isTagged)) return arn
  const tags = await tagsOf(center, arn, queueLimits)
  if (tags === undefined) return undefined
  if (tags.get(tagKeys.tenant) !== center.tenant_id) {
    throw new TargetError(
      'permanent',
      `a permission set named \`${own_set.name}\` exists that Sallyport did not make for this tenant; rename or delete it`,
    )
  }
  if (own_set.audit && tags.get(tagKeys.audit) !== 'true') {
    const Tags = [{ Key: tagKeys.audit, Value: 'true' }]
    await center.sso('TagResource', queueLimits, (client, options) =>
      client.tagResource({ InstanceArn: center.config.instance_arn, ResourceArn: arn, Tags }, options),
    )
  }
  center.answers.note(key, isTagged)
  return arn
}

/** The answer that a set has the tags of this tenant, and those that its access needs. */
function taggedAs(arn: string, { audit }: Pick<OwnSet, 'audit'>): string {
  return `${arn} is tagged${audit ? ' for audits' : ''}`
}

async function makeSet(center: Center, assignment: OwnAssignment, queueLimits: QueueLimits): Promise<string> {
  const { tenant_id, provisioner_id, config, names, marks } = center
  const { own_set } = assignment
  const mark = await marks?.sign({ grant_id: own_set.grant_id, key: keyIn(center, assignment) })
  const tags = {
    [tagKeys.tenant]: tenant_id,
    [tagKeys.provisioner]: provisioner_id,
    [tagKeys.grant]: own_set.grant_id,
    [tagKeys.audit]: String(own_set.audit),
    ...(mark && {
      [tagKeys.installation]: mark.installation,
      [tagKeys.epoch]: String(mark.epoch),
      [tagKeys.signature]: mark.signature,
    }),
  }
  const input = {
    InstanceArn: config.instance_arn,
    Name: own_set.name,
    Description: 'Made by Sallyport for one grant, and deleted with it',
    SessionDuration: `PT${own_set.session_hours}H`,
    Tags: Object.entries(tags).map(([Key, Value]) => ({ Key, Value })),
  }
  let arn: string | undefined
  try {
    const made = await center.sso('CreatePermissionSet', queueLimits, (client, options) =>
      client.createPermissionSet(input, options),
    )
    arn = made.PermissionSet?.PermissionSetArn
  } catch (error) {
    if (!(error instanceof AwsRefusal)) throw error
    // It may exist nevertheless, and appear in lists later.
    if (error.code !== 'ConflictException') {
      if (error.kind === 'transient') names.doubt(own_set.name)
      throw error
    }
    const found = await findSet(center, assignment, queueLimits)
    arn = found && (await takeOver(center, assignment, found, queueLimits))
  }
  if (arn === undefined)
    throw new TargetError('transient', `AWS does not list the permission set \`${own_set.name}\` yet`)
  names.keep(own_set.name, arn)
  center.answers.note(keyIn(center, assignment), taggedAs(arn, own_set))
  return arn
}

/**
 * The set of that name with this tenant's tag; undefined when there is none, or it belongs to another owner.
 * @throws TargetError when one may have been made a moment ago that AWS does not list yet
 */
export async function findOurs(
  center: Center,
  assignment: OwnAssignment,
  queueLimits: QueueLimits,
): Promise<string | undefined> {
  const { name } = assignment.own_set
  const arn = await findSet(center, assignment, queueLimits)
  if (arn === undefined && center.names.isDoubtful(name)) {
    throw new TargetError('transient', `it is not known yet whether AWS made the permission set \`${name}\``)
  }
  if (arn === undefined) return undefined
  const [key, isTagged] = [keyIn(center, assignment), taggedAs(arn, { audit: false })]
  if (center.answers.has(key, isTagged)) return arn
  if ((await tagsOf(center, arn, queueLimits))?.get(tagKeys.tenant) !== center.tenant_id) return undefined
  center.answers.note(key, isTagged)
  return arn
}

/** Searches the cache, then the person's sets on the account, then all sets: each step costs more than the one before. */
async function findSet(
  center: Center,
  assignment: OwnAssignment,
  queueLimits: QueueLimits,
): Promise<string | undefined> {
  const { name } = assignment.own_set
  return (
    center.names.arnOf(name) ??
    (await findHeld(center, assignment, queueLimits)) ??
    (await searchSet(center, name, queueLimits))
  )
}

/** The set of that name now assigned to the person on the account. */
export async function findHeld(
  center: Center,
  assignment: OwnAssignment,
  queueLimits: QueueLimits,
): Promise<string | undefined> {
  for (const arn of await listSetsOf(center, assignment, queueLimits)) {
    if ((await nameOfSet(center, arn, queueLimits)) === assignment.own_set.name) return arn
  }
  return undefined
}

/** The tags of a set; undefined when there is no such set. */
export async function tagsOf(
  center: Center,
  ResourceArn: string,
  queueLimits: QueueLimits,
): Promise<Map<string, string> | undefined> {
  const InstanceArn = center.config.instance_arn
  const answer = await ifThere(
    center.sso('ListTagsForResource', queueLimits, (client, options) =>
      client.listTagsForResource({ InstanceArn, ResourceArn }, options),
    ),
  )
  if (answer === undefined) {
    center.names.drop(ResourceArn)
    return undefined
  }
  return new Map((answer.Tags ?? []).flatMap(({ Key, Value }) => (Key === undefined ? [] : [[Key, Value ?? '']])))
}

/**
 * Deletes the set; a missing one counts as deleted. A set that was assigned to others by hand stays: a sweep reports their
 * access.
 */
export async function deleteSet(
  center: Center,
  { principal_id }: Assignment,
  PermissionSetArn: string,
  queueLimits: QueueLimits,
): Promise<void> {
  const InstanceArn = center.config.instance_arn
  try {
    await ifThere(
      center.sso('DeletePermissionSet', queueLimits, (client, options) =>
        client.deletePermissionSet({ InstanceArn, PermissionSetArn }, options),
      ),
    )
    center.names.drop(PermissionSetArn)
  } catch (error) {
    if (!(error instanceof AwsRefusal) || error.code !== 'ConflictException') throw error
    if (await isHeldByOthers(center, principal_id, PermissionSetArn, queueLimits)) return
    // AWS still counts a just removed assignment for a moment.
    throw new Conflict(error)
  }
}

async function isHeldByOthers(
  center: Center,
  principal_id: string,
  arn: string,
  queueLimits: QueueLimits,
): Promise<boolean> {
  for (const account_id of await listAccounts(center, arn, queueLimits)) {
    for await (const holders of listHolders(center, account_id, arn, queueLimits)) {
      if (holders.some(({ id }) => id !== principal_id)) return true
    }
  }
  return false
}

import { emailKey } from '../../kernel/email-address.ts'
import type { GrantAsk, Plan } from '../driver.ts'
import { TargetError } from '../driver.ts'
import { isAssigned } from './assignments.ts'
import { type Center, ifThere } from './center.ts'
import { findSetFault } from './center-config.ts'
import { type Gift, ownPrefix, ownSetName, sessionHours } from './own-set.ts'
import { findHeld } from './own-sets.ts'
import { describeSet, searchSet } from './permission-sets.ts'
import type { QueueLimits } from './priority-queue.ts'
import { type Assignment, keyOf } from './target.ts'

/** Resolves who, where and by which set; asks AWS, and changes nothing there. */
export async function planAssignment(center: Center, ask: GrantAsk, patience: QueueLimits): Promise<Plan> {
  const { account_id } = ask
  if (account_id === null) {
    throw new TargetError(
      'permanent',
      `nobody knows which account \`${ask.resource.id}\` is in: ask with \`metadata.account_id\``,
    )
  }
  const [principal_id] = await Promise.all([
    findPrincipal(center, ask.user, patience.signal),
    requireActive(center, account_id, patience.signal),
  ])
  const where = { account_id, principal_id }
  return ask.resource.type === 'cloud_account'
    ? planSet(center, ask, where, patience)
    : planOwnSet(center, ask, where, patience)
}

type Where = { account_id: string; principal_id: string }

async function planSet(center: Center, ask: GrantAsk, where: Where, patience: QueueLimits): Promise<Plan> {
  const { permission_sets = {}, instance_arn } = center.config
  const mapped = Object.hasOwn(permission_sets, ask.action) ? permission_sets[ask.action] : undefined
  const asked = ask.permission_set ?? mapped ?? ask.action
  const found = await findSet(center, asked, patience)
  const assignment: Assignment = { ...where, permission_set_arn: found.arn }
  return {
    key: keyOf(instance_arn, assignment),
    target: assignment,
    held: await isAssigned(center, where, found.arn, patience),
    // Whoever has signed in to the account stays so until the set's own limit.
    session_seconds: found.session_seconds,
    recorded_as: roleNameOf(found.name),
  }
}

/** A permission set by its name or ARN. A set made here for somebody is nobody else's to ask for. */
async function findSet(center: Center, asked: string, patience: QueueLimits) {
  const why = findSetFault(asked, center.config.instance_arn)
  if (why !== undefined) throw new TargetError('permanent', `\`${asked}\` ${why}`)
  const isArn = asked.startsWith('arn:')
  const arn = isArn ? asked : (center.names.arnOf(asked) ?? (await searchSet(center, asked, patience)))
  const found = arn === undefined ? undefined : await describeSet(center, arn, patience)
  if (arn === undefined || found === undefined) {
    throw new TargetError('permanent', `the instance has no permission set \`${asked}\``)
  }
  if (found.name.startsWith(ownPrefix)) {
    throw new TargetError('permanent', `\`${asked}\` was made for somebody else's access`)
  }
  return { arn, name: found.name, session_seconds: found.session_seconds }
}

/** The role that AWS makes of a set in an account, as CloudTrail names it in `sessionIssuer`: its end is AWS's own. */
function roleNameOf(set: string): string {
  return `AWSReservedSSO_${set}_*`
}

async function planOwnSet(center: Center, ask: GrantAsk, where: Where, patience: QueueLimits): Promise<Plan> {
  const { config, tenant_id } = center
  const gives = giftOf(center, ask)
  const own_set = {
    name: ownSetName(tenant_id, ask.user.id, where.account_id, gives),
    grant_id: ask.grant_id,
    audit: ask.audit_session,
    session_hours: sessionHours(ask, config.session_hours ?? 1),
    gives,
  }
  const assignment = { ...where, own_set }
  return {
    key: keyOf(config.instance_arn, assignment),
    target: assignment,
    held: (await findHeld(center, assignment, patience)) !== undefined,
    session_seconds: leftOverSeconds(center, gives, own_set.session_hours),
    recorded_as: roleNameOf(own_set.name),
  }
}

/** How long a session lives on: credentials until the set's limit, a connection to a database for nobody knows how long. */
function leftOverSeconds({ config }: Center, gives: Gift, session_hours: number): number | null {
  if (gives.on === 'database') return null
  // Open sessions on the machine are ended only where a role is named that may.
  if (gives.on === 'instance' && config.session_role === undefined) return null
  return session_hours * 3_600
}

const bucketWords = ['read', 'write', 'delete'] as const

function giftOf({ config }: Center, ask: GrantAsk): Gift {
  const { resource, action } = ask
  if (resource.type === 'cloud_storage_bucket') {
    const mapped = Object.hasOwn(config.bucket_actions ?? {}, action) ? config.bucket_actions?.[action] : undefined
    const may = mapped ?? bucketWords.find((word) => word === action)
    if (may === undefined) throw unknownAction(action, 'read, write and delete, or what `bucket_actions` names')
    return { on: 'bucket', bucket: requireForm(resource.id, /^[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]$/), may }
  }
  if (resource.type === 'cloud_compute_instance') {
    if (action !== 'connect') throw unknownAction(action, '`connect`')
    return { on: 'instance', instance_id: requireForm(resource.id, /^i-[0-9A-Za-z]{1,64}$/) }
  }
  if (resource.type === 'cloud_db_instance') return databaseGift(config, ask)
  throw new TargetError('permanent', `IAM Identity Center gives nothing on a \`${resource.type}\``)
}

function databaseGift(config: Center['config'], { resource, action, user }: GrantAsk): Gift {
  const { databases = {} } = config
  const database = Object.hasOwn(databases, resource.id) ? databases[resource.id] : undefined
  if (database === undefined) {
    throw new TargetError('permanent', `the provisioner's \`databases\` do not name \`${resource.id}\``)
  }
  const mapped = Object.hasOwn(database.users, action) ? database.users[action] : undefined
  if (mapped === undefined) throw unknownAction(action, `what \`users\` of \`${resource.id}\` names`)
  const name = mapped === '{user}' ? userNameOf(user.email, config) : mapped
  const region = requireForm(resource.id.split(':')[3] ?? '', /^[a-z0-9-]{1,30}$/)
  return {
    on: 'database',
    region,
    resource_id: database.resource_id,
    // No wildcard of a policy can be among them.
    user: requireForm(name, /^[A-Za-z0-9_.@+-]{1,63}$/),
  }
}

function unknownAction(action: string, known: string): TargetError {
  return new TargetError('permanent', `\`${action}\` is nothing that can be given there: there are ${known}`)
}

/** INVARIANT: whatever goes into a policy passes here, whoever wrote it. */
function requireForm(text: string, form: RegExp): string {
  if (form.test(text)) return text
  throw new TargetError('permanent', `\`${text}\` cannot stand in a policy`)
}

/** @throws TargetError for an address of another domain: the same name there is somebody else. */
function userNameOf(email: string, { user_name, email_domain = '' }: Center['config']): string {
  if (user_name !== 'local_part') return email
  const at = email.lastIndexOf('@')
  if (emailKey(email.slice(at)) === emailKey(`@${email_domain}`)) return email.slice(0, at)
  throw new TargetError(
    'permanent',
    `\`${email}\` is no address of \`${email_domain}\`, whose people alone are known here`,
  )
}

/** Whom the identity store calls by that external id, else by that user name. */
async function findPrincipal(center: Center, user: GrantAsk['user'], signal: AbortSignal): Promise<string> {
  const { identity_store_id: IdentityStoreId, external_id_issuer } = center.config
  const find = (alternate: Alternate) =>
    ifThere(
      center.store('GetUserId', signal, (client, options) =>
        client.getUserId({ IdentityStoreId, AlternateIdentifier: alternate }, options),
      ),
    )
  if (external_id_issuer !== undefined && user.external_id !== null) {
    const known = await find({ ExternalId: { Issuer: external_id_issuer, Id: user.external_id } })
    if (known?.UserId !== undefined) return known.UserId
  }
  const name = userNameOf(user.email, center.config)
  const known = await find({ UniqueAttribute: { AttributePath: 'userName', AttributeValue: name } })
  if (known?.UserId !== undefined) return known.UserId
  throw new TargetError('permanent', `the identity store has no user \`${name}\``)
}

type Alternate =
  | { ExternalId: { Issuer: string; Id: string } }
  | { UniqueAttribute: { AttributePath: string; AttributeValue: string } }

/** Access to an account that is closed or is being closed would be given in vain. */
async function requireActive(center: Center, AccountId: string, signal: AbortSignal): Promise<void> {
  const status = await findAccountStatus(center, AccountId, signal)
  if (status === undefined) throw new TargetError('permanent', `the organization has no account ${AccountId}`)
  if (status !== 'ACTIVE') throw new TargetError('permanent', `the account ${AccountId} is ${status}`)
}

/** The status of an account; undefined where the organization has no such account. */
export async function findAccountStatus(
  center: Center,
  AccountId: string,
  signal: AbortSignal,
): Promise<string | undefined> {
  const answer = await ifThere(
    center.organization('DescribeAccount', signal, (client, options) => client.describeAccount({ AccountId }, options)),
  )
  return answer === undefined ? undefined : (answer.Account?.Status ?? 'ACTIVE')
}

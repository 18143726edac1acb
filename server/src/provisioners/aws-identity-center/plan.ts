import type { Plan, PlanInput } from '../driver.ts'
import { TargetError } from '../driver.ts'
import { loginOf, type UserLookup } from '../user-lookup.ts'
import { isAssigned } from './assignments.ts'
import { type Center, ifThere } from './center.ts'
import { findSetFault } from './center-config.ts'
import { connectBy } from './connect.ts'
import { type Gift, ownPrefix, ownSetName, sessionHours } from './own-set.ts'
import { findHeld } from './own-sets.ts'
import { describeSet, searchSet } from './permission-sets.ts'
import type { QueueLimits } from './priority-queue.ts'
import { type Assignment, keyOf } from './target.ts'

/** Resolves the person, the account and the permission set; reads from AWS and changes nothing there. */
export async function planAssignment(center: Center, input: PlanInput, queueLimits: QueueLimits): Promise<Plan> {
  const { account_id } = input
  if (account_id === null) {
    throw new TargetError(
      'permanent',
      `the account of \`${input.resource.id}\` is unknown: add \`metadata.account_id\` to the request`,
    )
  }
  const [principal_id] = await Promise.all([
    findPrincipal(center, input.user, queueLimits.signal),
    requireActive(center, account_id, queueLimits.signal),
  ])
  const where = { account_id, principal_id }
  return input.resource.type === 'cloud_account'
    ? planSet(center, input, where, queueLimits)
    : planOwnSet(center, input, where, queueLimits)
}

type Where = { account_id: string; principal_id: string }

async function planSet(center: Center, input: PlanInput, where: Where, queueLimits: QueueLimits): Promise<Plan> {
  const { permission_sets = {}, instance_arn, cut_sessions } = center.config
  const mapped = Object.hasOwn(permission_sets, input.action) ? permission_sets[input.action] : undefined
  const requested = input.permission_set ?? mapped ?? input.action
  const found = await findSet(center, requested, queueLimits)
  const assignment: Assignment = { ...where, permission_set_arn: found.arn, ...(cut_sessions && { cuts: true }) }
  return {
    key: keyOf(instance_arn, assignment),
    target: assignment,
    held: await isAssigned(center, where, found.arn, queueLimits),
    // Unless sessions are cut, a person who has signed in to the account stays signed in until the set's own limit.
    session_seconds: cut_sessions ? 0 : found.session_seconds,
    recorded_as: roleNameOf(found.name),
    connect: connectBy(center.config, { account_id: where.account_id, set: found.name }),
  }
}

/** A permission set by its name or ARN. A set that Sallyport made for one person cannot be requested. */
async function findSet(center: Center, requested: string, queueLimits: QueueLimits) {
  const why = findSetFault(requested, center.config.instance_arn)
  if (why !== undefined) throw new TargetError('permanent', `\`${requested}\` ${why}`)
  const isArn = requested.startsWith('arn:')
  const arn = isArn ? requested : (center.names.arnOf(requested) ?? (await searchSet(center, requested, queueLimits)))
  const found = arn === undefined ? undefined : await describeSet(center, arn, queueLimits)
  if (arn === undefined || found === undefined) {
    throw new TargetError('permanent', `the instance has no permission set \`${requested}\``)
  }
  if (found.name.startsWith(ownPrefix)) {
    throw new TargetError('permanent', `\`${requested}\` was made for somebody else's access`)
  }
  return { arn, name: found.name, session_seconds: found.session_seconds }
}

/** The role that AWS creates for a set in an account, as in CloudTrail's `sessionIssuer`; AWS chooses its suffix. */
function roleNameOf(set: string): string {
  return `AWSReservedSSO_${set}_*`
}

async function planOwnSet(center: Center, input: PlanInput, where: Where, queueLimits: QueueLimits): Promise<Plan> {
  const { config, tenant_id } = center
  const gives = giftOf(center, input)
  const own_set = {
    name: ownSetName(tenant_id, input.user.id, where.account_id, gives),
    grant_id: input.grant_id,
    audit: input.audit_session,
    session_hours: sessionHours(input, config.session_hours ?? 1),
    gives,
  }
  const assignment = { ...where, own_set }
  return {
    key: keyOf(config.instance_arn, assignment),
    target: assignment,
    held: (await findHeld(center, assignment, queueLimits)) !== undefined,
    session_seconds: leftOverSeconds(center, gives, own_set.session_hours),
    recorded_as: roleNameOf(own_set.name),
    connect: connectBy(config, {
      account_id: where.account_id,
      set: own_set.name,
      gives,
      database: placeOf(config, input),
    }),
  }
}

/** Where a database is, when the config says so: its ARN does not. */
function placeOf({ databases = {} }: Center['config'], { resource }: PlanInput) {
  const { host, port } = (Object.hasOwn(databases, resource.id) && databases[resource.id]) || {}
  return host === undefined || port === undefined ? undefined : { host, port }
}

/** How long a session outlives the access: credentials until the set's limit; a database connection for an unknown time. */
function leftOverSeconds({ config }: Center, gives: Gift, session_hours: number): number | null {
  if (gives.on === 'database') return null
  // Open sessions on the machine are ended only when the config names a role with that right.
  if (gives.on === 'instance' && config.session_role === undefined) return null
  return session_hours * 3_600
}

const bucketActions = ['read', 'write', 'delete'] as const

function giftOf({ config }: Center, input: PlanInput): Gift {
  const { resource, action } = input
  if (resource.type === 'cloud_storage_bucket') {
    const mapped = Object.hasOwn(config.bucket_actions ?? {}, action) ? config.bucket_actions?.[action] : undefined
    const may = mapped ?? bucketActions.find((known) => known === action)
    if (may === undefined) throw unknownAction(action, 'read, write and delete, or what `bucket_actions` names')
    return { on: 'bucket', bucket: requireForm(resource.id, /^[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]$/), may }
  }
  if (resource.type === 'cloud_compute_instance') {
    if (action !== 'connect') throw unknownAction(action, '`connect`')
    return { on: 'instance', instance_id: requireForm(resource.id, /^i-[0-9A-Za-z]{1,64}$/) }
  }
  if (resource.type === 'cloud_db_instance') return databaseGift(config, input)
  throw new TargetError('permanent', `IAM Identity Center cannot give access to a \`${resource.type}\``)
}

function databaseGift(config: Center['config'], { resource, action, user }: PlanInput): Gift {
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
    // The form allows no policy wildcard.
    user: requireForm(name, /^[A-Za-z0-9_.@+-]{1,63}$/),
  }
}

function unknownAction(action: string, known: string): TargetError {
  return new TargetError('permanent', `\`${action}\` cannot be given there; the actions are ${known}`)
}

/** INVARIANT: every text that goes into a policy is checked here, regardless of its source. */
function requireForm(text: string, form: RegExp): string {
  if (form.test(text)) return text
  throw new TargetError('permanent', `\`${text}\` has characters that a policy must not contain`)
}

/** @throws TargetError for an address of another domain: the same name there is another person. */
function userNameOf(email: string, config: Center['config']): string {
  const lookup = lookupOf(config)
  const login = loginOf(email, lookup)
  if (login !== undefined) return login
  throw new TargetError(
    'permanent',
    `\`${email}\` is not an address of \`${lookup.email_domain}\`, the only domain of this provisioner`,
  )
}

/** By what the identity store finds a user. */
export function lookupOf({ user_name, email_domain = '', external_id_issuer }: LookupConfig): UserLookup {
  return {
    external_id_issuer: external_id_issuer ?? null,
    email_domain: user_name === 'local_part' ? email_domain : null,
  }
}

type LookupConfig = Pick<Center['config'], 'user_name' | 'email_domain' | 'external_id_issuer'>

/** The user of the identity store with that external id, else with that user name. */
async function findPrincipal(center: Center, user: PlanInput['user'], signal: AbortSignal): Promise<string> {
  const { identity_store_id: IdentityStoreId } = center.config
  const { external_id_issuer } = lookupOf(center.config)
  const find = (alternate: Alternate) =>
    ifThere(
      center.store('GetUserId', signal, (client, options) =>
        client.getUserId({ IdentityStoreId, AlternateIdentifier: alternate }, options),
      ),
    )
  if (external_id_issuer !== null && user.external_id !== null) {
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

/** Access to a closed or closing account would have no effect. */
async function requireActive(center: Center, AccountId: string, signal: AbortSignal): Promise<void> {
  const state = await findAccountState(center, AccountId, signal)
  if (state === undefined) throw new TargetError('permanent', `the organization has no account ${AccountId}`)
  if (state !== 'ACTIVE') throw new TargetError('permanent', `the account ${AccountId} is ${state}`)
}

/** The state of an account, `ACTIVE` or another; undefined when the organization has no such account. */
export async function findAccountState(
  center: Center,
  AccountId: string,
  signal: AbortSignal,
): Promise<string | undefined> {
  const answer = await ifThere(
    center.organization('DescribeAccount', signal, (client, options) => client.describeAccount({ AccountId }, options)),
  )
  if (answer === undefined) return undefined
  // AWS answers `State` in place of `Status` since September 2026.
  const { State, Status } = answer.Account ?? {}
  return State ?? Status ?? 'of unknown state'
}

import { randomUUID } from 'node:crypto'
import type { Check } from '../driver.ts'
import { TargetError } from '../driver.ts'
import { AwsRefusal, type Center } from './center.ts'
import { findSetFault } from './center-config.ts'
import { readPolicy, reasons } from './cutting.ts'
import { describeSet, listSets, searchSet } from './permission-sets.ts'
import { findAccountState } from './plan.ts'
import type { QueueLimits } from './priority-queue.ts'
import { findNoCut } from './session-cuts.ts'
import { findInstance, listInstances } from './set-up.ts'

/** Checks everything that giving access needs, without giving any. Each check says how to fix what it finds. */
export async function checkHealth(center: Center, queueLimits: QueueLimits): Promise<Check[]> {
  const { config } = center
  const self = await check('Sallyport’s own identity', async () => `it is ${await center.whoAmI()}`)
  if (!self.ok) return [self]
  const role = await check('the role', async () => {
    await openRole(center)
    return `${config.role_arn} can be assumed, and only with the external id`
  })
  if (!role.ok) return [self, role]
  const instance = await check('the instance', () => checkInstance(center, queueLimits))
  // All other calls name it.
  if (config.instance_arn === '') return [self, role, instance]
  return [
    self,
    role,
    instance,
    await check('the identity store', () => checkStore(center, queueLimits.signal)),
    await check('the organization', () => checkOrganization(center, queueLimits.signal)),
    await check('the permission sets', () => checkSomeSet(center, queueLimits)),
    await check('giving and removing access', () => checkRights(center, queueLimits)),
    ...(await checkSets(center, queueLimits)),
    ...(await checkCuts(center, queueLimits)),
  ]
}

async function check(what: string, run: () => Promise<string | null>): Promise<Check> {
  try {
    return { what, ok: true, message: await run() }
  } catch (error) {
    return { what, ok: false, message: error instanceof Error ? fixed(error) : 'failed' }
  }
}

/** What AWS answered, with how to fix it where that is one thing. */
function fixed(error: Error): string {
  const code = error instanceof AwsRefusal ? error.code : ''
  const fix = Object.hasOwn(fixes, code) ? fixes[code] : undefined
  return fix === undefined ? error.message : `${error.message}; ${fix}`
}

const fixes: Readonly<Record<string, string>> = {
  CredentialsProviderError: 'give the service an identity at AWS, as the guide says, and start it again',
  AccessDenied:
    'its trust policy must name the identity of the service, and the external id that was shown at creation',
  AccessDeniedException:
    'the policy of the role must allow this call: apply the snippet again, or add the right that is named',
  AWSOrganizationsNotInUseException:
    'the account of the role must be the management account of an organization, or its delegate',
}

async function openRole(center: Center): Promise<void> {
  center.aws.forgetRole()
  await center.assumeRole()
}

async function checkInstance(center: Center, queueLimits: QueueLimits): Promise<string | null> {
  const { instance_arn, identity_store_id, region } = center.config
  if (instance_arn === '') {
    const only = await findInstance(center, queueLimits)
    // Only what is found before the checks is kept with the config.
    throw new TargetError('transient', `it is ${only.instance_arn}, found too late to be kept; test again`)
  }
  const found = (await listInstances(center, queueLimits)).find((one) => one.instance_arn === instance_arn)
  if (found === undefined)
    throw new TargetError(
      'permanent',
      `the role finds no instance ${instance_arn} in ${region}; check the ARN, the region and the rights of the role`,
    )
  if (found.identity_store_id === identity_store_id) return instance_arn
  throw new TargetError('permanent', `its identity store is ${found.identity_store_id}, not ${identity_store_id}`)
}

async function checkStore(center: Center, signal: AbortSignal): Promise<string | null> {
  const IdentityStoreId = center.config.identity_store_id
  const page = await center.store('ListUsers', signal, (client, options) =>
    client.listUsers({ IdentityStoreId, MaxResults: 1 }, options),
  )
  return page.Users?.length ? null : 'it has no users yet'
}

async function checkOrganization(center: Center, signal: AbortSignal): Promise<null> {
  const account = center.config.role_arn.split(':')[4] ?? ''
  const state = await findAccountState(center, account, signal)
  if (state !== undefined) return null
  throw new TargetError('permanent', `the account ${account} of the role is in no organization`)
}

/** The sets that can be given; a right to read them is needed to find one by its name. */
async function checkSomeSet(center: Center, queueLimits: QueueLimits): Promise<string> {
  for await (const arns of listSets(center, queueLimits)) {
    const [first] = arns
    if (first === undefined) continue
    const { name = first } = (await describeSet(center, first, queueLimits)) ?? {}
    return `there are some, such as ${name}`
  }
  return 'there are none yet: make one in AWS to give access to accounts'
}

/** An assignment of this set can be neither made nor removed: the instance has no such set. */
const noSet = 'ps-0000000000000000'

/**
 * Whether the role may make and remove assignments. AWS checks the right before it looks for the set, so a set that is not there shows it,
 * and nothing is given.
 */
async function checkRights(center: Center, queueLimits: QueueLimits): Promise<string> {
  const { instance_arn: InstanceArn, role_arn } = center.config
  const assignment = {
    InstanceArn,
    PermissionSetArn: `${InstanceArn.replace(':instance/', ':permissionSet/')}/${noSet}`,
    PrincipalId: randomUUID(),
    PrincipalType: 'USER',
    TargetId: role_arn.split(':')[4] ?? '',
    TargetType: 'AWS_ACCOUNT',
  } as const
  await unlessAllowed(
    center.sso('DeleteAccountAssignment', queueLimits, (client, options) =>
      client.deleteAccountAssignment(assignment, options),
    ),
  )
  await unlessAllowed(
    center.sso('CreateAccountAssignment', queueLimits, (client, options) =>
      client.createAccountAssignment(assignment, options),
    ),
  )
  return 'the role may do both: AWS was asked about a set that does not exist, so nothing was given'
}

/** Answers about the set, the person or another act come after the check of the right. */
async function unlessAllowed(call: Promise<unknown>): Promise<void> {
  try {
    await call
  } catch (error) {
    const isAllowed =
      error instanceof AwsRefusal && /^(?:ResourceNotFound|Validation|Conflict)Exception$/.test(error.code)
    if (!isAllowed) throw error
  }
}

/** Each permission set that the config names. */
async function checkSets(center: Center, queueLimits: QueueLimits): Promise<Check[]> {
  const { permission_sets = {}, instance_arn } = center.config
  const checks: Check[] = []
  for (const set of new Set(Object.values(permission_sets))) {
    const found = await check(`the permission set \`${set}\``, async () => {
      const why = findSetFault(set, instance_arn)
      const arn = set.startsWith('arn:') ? set : await searchSet(center, set, queueLimits)
      if (why !== undefined || arn === undefined || (await describeSet(center, arn, queueLimits)) === undefined) {
        throw new TargetError('permanent', why ?? 'the instance has no such permission set')
      }
      return null
    })
    checks.push(found)
  }
  return checks
}

/** Whether sessions could be cut in the sets that the config names: their policies are read, and not written. */
async function checkCuts(center: Center, queueLimits: QueueLimits): Promise<Check[]> {
  const { permission_sets = {}, cut_sessions } = center.config
  if (!cut_sessions) return []
  const checks: Check[] = []
  for (const set of new Set(Object.values(permission_sets))) {
    const found = await check(`cutting sessions of \`${set}\``, async () => {
      const arn = set.startsWith('arn:') ? set : await searchSet(center, set, queueLimits)
      const policy = arn === undefined ? '' : ((await readPolicy(center, arn, queueLimits)) ?? '')
      const why = findNoCut(policy)
      if (why !== undefined) throw new TargetError('permanent', reasons[why])
      return null
    })
    checks.push(found)
  }
  return checks
}

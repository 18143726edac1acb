import type { Check } from '../driver.ts'
import { TargetError } from '../driver.ts'
import { AwsRefusal, type Center } from './center.ts'
import { findSetFault } from './center-config.ts'
import { readPolicy, reasons } from './cutting.ts'
import { describeSet, searchSet } from './permission-sets.ts'
import { findAccountStatus } from './plan.ts'
import type { QueueLimits } from './priority-queue.ts'
import { findNoCut } from './session-cuts.ts'

/** Checks everything that giving access needs, as far as possible without giving any. */
export async function checkHealth(center: Center, queueLimits: QueueLimits): Promise<Check[]> {
  const { config } = center
  const self = await check('the service’s own credentials', async () => `it is ${await center.whoAmI()}`)
  const role = await check('the role', async () => {
    await openRole(center, queueLimits)
    return `${config.role_arn} can be assumed, and only with the external id`
  })
  if (!self.ok || !role.ok) return [self, role]
  return [
    self,
    role,
    await check('the instance', () => checkInstance(center, queueLimits)),
    await check('the identity store', () => checkStore(center, queueLimits.signal)),
    await check('the organization', () => checkOrganization(center, queueLimits.signal)),
    ...(await checkSets(center, queueLimits)),
    ...(await checkCuts(center, queueLimits)),
    {
      what: 'giving access',
      ok: true,
      message: 'cannot be tested without giving any: the guide lists the rights that the role needs',
    },
  ]
}

async function check(what: string, run: () => Promise<string | null>): Promise<Check> {
  try {
    return { what, ok: true, message: await run() }
  } catch (error) {
    return { what, ok: false, message: error instanceof Error ? error.message : 'failed' }
  }
}

async function openRole(center: Center, queueLimits: QueueLimits): Promise<void> {
  center.aws.forgetRole()
  try {
    // Any call will do: it assumes the role first.
    await listInstances(center, queueLimits)
  } catch (error) {
    if (!(error instanceof AwsRefusal) || !/^AccessDenied$/.test(error.code)) throw error
    const hint =
      'its trust policy must name the identity of the service, and the external id that was shown at creation'
    throw new AwsRefusal(error.kind, `${error.message}; ${hint}`, error.code)
  }
}

async function listInstances(center: Center, queueLimits: QueueLimits) {
  const found: { InstanceArn?: string | undefined; IdentityStoreId?: string | undefined }[] = []
  let NextToken: string | undefined
  do {
    const page = await center.sso('ListInstances', queueLimits, (client, options) =>
      client.listInstances({ NextToken }, options),
    )
    found.push(...(page.Instances ?? []))
    NextToken = page.NextToken
  } while (NextToken !== undefined)
  return found
}

async function checkInstance(center: Center, queueLimits: QueueLimits): Promise<null> {
  const { instance_arn, identity_store_id, region } = center.config
  const found = (await listInstances(center, queueLimits)).find(({ InstanceArn }) => InstanceArn === instance_arn)
  if (found === undefined)
    throw new TargetError(
      'permanent',
      `the role finds no instance ${instance_arn} in ${region}; check the ARN, the region and the rights of the role`,
    )
  if (found.IdentityStoreId === identity_store_id) return null
  throw new TargetError('permanent', `its identity store is ${found.IdentityStoreId}, not ${identity_store_id}`)
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
  const status = await findAccountStatus(center, account, signal)
  if (status !== undefined) return null
  throw new TargetError('permanent', `the account ${account} of the role is in no organization`)
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

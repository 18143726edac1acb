import { type Config, type Instructions, TargetError } from '../driver.ts'
import { AwsRefusal, type Center } from './center.ts'
import { isInstance } from './center-config.ts'
import { pagesOf } from './pages.ts'
import type { QueueLimits } from './priority-queue.ts'
import { rolePolicy, trustPolicy } from './role-policy.ts'
import { snippetsOf } from './snippets.ts'

type Instance = { instance_arn: string; identity_store_id: string }

/** Every instance that the role finds in the region. */
export async function listInstances(center: Center, queueLimits: QueueLimits): Promise<Instance[]> {
  const found: Instance[] = []
  const pages = pagesOf((NextToken) =>
    center.sso('ListInstances', queueLimits, (client, options) => client.listInstances({ NextToken }, options)),
  )
  for await (const { Instances = [] } of pages) {
    for (const { InstanceArn = '', IdentityStoreId = '' } of Instances)
      found.push({ instance_arn: InstanceArn, identity_store_id: IdentityStoreId })
  }
  return found
}

/**
 * The only instance of the region, as fields of the config.
 * @throws TargetError permanent, when there is none, or more than one
 */
export async function findInstance(center: Center, queueLimits: QueueLimits): Promise<Config> {
  const { region } = center.config
  const [only, ...others] = await listInstances(center, queueLimits)
  if (only === undefined) {
    const fix = 'name the region in which IAM Identity Center is enabled, and the management account or its delegate'
    throw new TargetError('permanent', `the role finds no instance in ${region}: ${fix}`)
  }
  if (others.length === 0) {
    // It is kept with the config.
    if (isInstance(only)) return only
    throw new TargetError('permanent', 'AWS names the instance without its ARN or its identity store: test again later')
  }
  const arns = [only, ...others].map(({ instance_arn }) => instance_arn)
  throw new TargetError(
    'permanent',
    `the role finds ${arns.length} instances in ${region}: name the organization's own in the config, with its identity store: ` +
      arns.slice(0, 3).join(', '),
  )
}

/** How to give the service an identity at AWS, for an operator who reads that it has none. */
const noIdentity =
  'Sallyport has no AWS credentials of its own yet: give the service an identity by the usual ways of AWS (a role of its machine or ' +
  'container, a web identity, or AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY), start it again, then make a new external id'

/** The role to make: trusts who the service is now, and demands the external id. */
export async function describeRole(center: Center, external_id: string): Promise<Instructions> {
  try {
    const identity = await center.whoAmI()
    const [trust, policy] = [trustPolicy(identity, external_id), rolePolicy(center.config)]
    const role = { ...nameOf(center.config.role_arn), trust, policy }
    return { identity, note: null, snippets: snippetsOf(role) }
  } catch (error) {
    if (!(error instanceof TargetError)) throw error
    const hasNone = error instanceof AwsRefusal && error.code === 'CredentialsProviderError'
    return { identity: null, note: hasNone ? noIdentity : error.message, snippets: [] }
  }
}

/** The last part of an ARN, and what comes before it: another path is another role. */
function nameOf(role_arn: string): { path: string; name: string } {
  const whole = role_arn.slice(role_arn.indexOf('/'))
  const end = whole.lastIndexOf('/') + 1
  return { path: whole.slice(0, end), name: whole.slice(end) }
}

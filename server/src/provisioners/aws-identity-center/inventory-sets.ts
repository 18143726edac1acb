import type { InventoryPage, ResourceSeen } from '../target-inventory.ts'
import { ifThere } from './center.ts'
import { chunksOf, type Reader } from './inventory-reading.ts'
import { ownPrefix } from './own-set.ts'
import { pagesOf } from './pages.ts'
import { describeSet, listSets } from './permission-sets.ts'

/** The permission sets of the organization, without those that Sallyport made. */
export async function* readPermissionSets(reader: Reader): AsyncGenerator<InventoryPage> {
  for await (const arns of listSets(reader.center, reader.queueLimits)) {
    for (const some of chunksOf(arns)) {
      const resources: ResourceSeen[] = []
      for (const arn of some) resources.push(...(await readSet(reader, arn)))
      yield { resources }
    }
  }
}

/** Whether Sallyport made the set; undefined when it is gone. A known name costs no call. */
export async function isOwnSet({ center, queueLimits }: Reader, arn: string): Promise<boolean | undefined> {
  // Not the call that others share: a plan would wait as long as this reading does.
  const name = center.names.nameOf(arn) ?? (await describeSet(center, arn, queueLimits))?.name
  return name?.startsWith(ownPrefix)
}

async function readSet(reader: Reader, arn: string): Promise<ResourceSeen[]> {
  const { center, queueLimits } = reader
  if (center.names.nameOf(arn)?.startsWith(ownPrefix)) return []
  const set = await describeSet(center, arn, queueLimits)
  if (set === undefined || set.name.startsWith(ownPrefix)) return []
  const { name, description, session_seconds } = set
  const is_administrator = await hasPolicy(reader, arn, `arn:${center.partition}:iam::aws:policy/AdministratorAccess`)
  const facts = { is_administrator, ...(session_seconds !== null && { session_seconds }) }
  return [{ resource_type: 'cloud_permission_set', id: arn, name, description, account_id: null, tags: {}, facts }]
}

/** Whether the set has that managed policy of AWS. */
async function hasPolicy({ center, queueLimits }: Reader, arn: string, policy_arn: string): Promise<boolean> {
  const set = { InstanceArn: center.config.instance_arn, PermissionSetArn: arn, MaxResults: 100 }
  const pages = pagesOf((NextToken) =>
    ifThere(
      center.sso('ListManagedPoliciesInPermissionSet', queueLimits, (client, options) =>
        client.listManagedPoliciesInPermissionSet({ ...set, NextToken }, options),
      ),
    ),
  )
  for await (const { AttachedManagedPolicies = [] } of pages)
    if (AttachedManagedPolicies.some(({ Arn }) => Arn === policy_arn)) return true
  return false
}

import type { AssignmentSeen, InventoryPage } from '../target-inventory.ts'
import { listAccounts, listHolders } from './assignments.ts'
import type { Reader } from './inventory-reading.ts'
import { isOwnSet } from './inventory-sets.ts'
import { listSets } from './permission-sets.ts'
import { keyOf } from './target.ts'

/** Who has which permission set on which account, without the sets that Sallyport made. */
export async function* readAssignments(reader: Reader): AsyncGenerator<InventoryPage> {
  const { center, queueLimits } = reader
  for await (const arns of listSets(center, queueLimits)) {
    for (const arn of arns) {
      yield {}
      if ((await isOwnSet(reader, arn)) !== false) continue
      for (const account_id of await listAccounts(center, arn, queueLimits)) {
        for await (const holders of listHolders(center, account_id, arn, queueLimits)) {
          yield {
            assignments: holders.map((holder) => assignmentOf(center.config.instance_arn, account_id, arn, holder)),
          }
        }
      }
    }
  }
}

function assignmentOf(
  instance_arn: string,
  account_id: string,
  permission_set_arn: string,
  { type, id: principal_id }: { type: string; id: string },
): AssignmentSeen {
  const seen = { account_id, permission_set_arn, principal_id }
  return type === 'USER'
    ? { ...seen, principal_type: 'person', entitlement_key: keyOf(instance_arn, seen) }
    : { ...seen, principal_type: 'group', entitlement_key: null }
}

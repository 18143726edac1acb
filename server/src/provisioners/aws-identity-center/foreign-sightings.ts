import type { ForeignSighting } from '../driver.ts'
import { listAccounts, listPeople } from './assignments.ts'
import type { Center } from './center.ts'
import { exclusiveTag, ownPrefix } from './own-set.ts'
import { tagsOf } from './own-sets.ts'
import { listSets, nameOfSet } from './permission-sets.ts'
import type { QueueLimits } from './priority-queue.ts'
import { keyIn } from './target.ts'

/**
 * Whom a permission set of the organization is assigned to directly: Sallyport could have done it, and an assignment has no place for a mark.
 * At the pace of the inventory, since there can be thousands of calls.
 */
export async function* discoverForeign(center: Center, queueLimits: QueueLimits): AsyncGenerator<ForeignSighting[]> {
  const atPace = () => center.readingPace.instance.wait(queueLimits)
  for await (const arns of listSets(center, queueLimits)) {
    // An empty page shows the caller that the reading makes progress.
    for (const permission_set_arn of arns) {
      yield []
      await atPace()
      const name = await nameOfSet(center, permission_set_arn, queueLimits)
      if (name === undefined || name.startsWith(ownPrefix)) continue
      await atPace()
      const exclusive = (await tagsOf(center, permission_set_arn, queueLimits))?.has(exclusiveTag) ?? false
      await atPace()
      for (const account_id of await listAccounts(center, permission_set_arn, queueLimits)) {
        await atPace()
        for await (const holders of listPeople(center, account_id, permission_set_arn, queueLimits)) {
          yield holders.map((principal_id) => {
            const target = { account_id, principal_id, permission_set_arn }
            return { key: keyIn(center, target), target, exclusive }
          })
        }
      }
    }
  }
}

import type { DirectoryCtx } from '../../http/scim-operation.ts'
import type { WorkItem } from '../../jobs/claim.ts'
import {
  compareGroupsNamed,
  findAbsentGroups,
  findSomeMembers,
  forgetGroupComparison,
  type GroupToCompare,
  listGroupsToCompare,
  type MemberKey,
} from './compare-groups-store.ts'
import { compareSomePeople, findSomeAbsent } from './compare-people-store.ts'

/** Notes what has to be done with each person whom a run read, and with who is no longer there. Returns whether the run is still ours. */
export async function comparePeople(ctx: DirectoryCtx, item: WorkItem): Promise<boolean> {
  let compared: number | undefined
  do compared = await compareSomePeople(ctx, item)
  while (compared !== undefined && compared > 0)
  if (compared === undefined) return false
  let after: string | null | undefined = null
  do after = await findSomeAbsent(ctx, item, after)
  while (typeof after === 'string')
  return after !== undefined
}

/** Groups, and memberships of them, that one statement compares: more of one group alone. */
const maxGroups = 100
const maxMembers = 50_000

/** The same of groups. `isAgain`: after people were made, who may be their members. */
export async function compareGroups(
  ctx: DirectoryCtx,
  item: WorkItem,
  { isAgain }: { isAgain: boolean },
): Promise<boolean> {
  let after: MemberKey | null | undefined = null
  do after = await findSomeMembers(ctx, item, after)
  while (after !== null && after !== undefined)
  if (after === undefined || !(await forgetGroupComparison(ctx, item))) return false
  for (;;) {
    const groups = await listGroupsToCompare(ctx, item, maxGroups)
    if (groups.length === 0) return isAgain || findAbsentGroups(ctx, item)
    if (!(await compareGroupsNamed(ctx, item, { source_ids: firstOf(groups), isAgain }))) return false
  }
}

/** The ids of the first groups, as many as have not too many members together, and at least one. */
function firstOf(groups: readonly GroupToCompare[]): string[] {
  let members = 0
  const fitting = groups.filter((group, index) => {
    members += group.members
    return index === 0 || members <= maxMembers
  })
  return fitting.map(({ source_id }) => source_id)
}

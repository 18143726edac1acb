import type { DirectoryCtx } from '../../http/scim-operation.ts'
import type { WorkItem } from '../../jobs/claim.ts'
import {
  compareSomeGroups,
  compareSomePeople,
  findAbsentGroups,
  findSomeAbsent,
  forgetGroupComparison,
} from './compare-store.ts'

/** Notes what has to be done with each person whom a run read, and with who is not there any more. Returns whether the run is still ours. */
export async function comparePeople(ctx: DirectoryCtx, item: WorkItem): Promise<boolean> {
  if (!(await untilNone(() => compareSomePeople(ctx, item)))) return false
  let after: string | null | undefined = null
  do after = await findSomeAbsent(ctx, item, after)
  while (typeof after === 'string')
  return after !== undefined
}

/** The same of groups: again after people were made, who may be their members. */
export async function compareGroups(ctx: DirectoryCtx, item: WorkItem): Promise<boolean> {
  if (!(await forgetGroupComparison(ctx, item))) return false
  return (await untilNone(() => compareSomeGroups(ctx, item))) && findAbsentGroups(ctx, item)
}

async function untilNone(compare: () => Promise<number | undefined>): Promise<boolean> {
  let compared: number | undefined
  do compared = await compare()
  while (compared !== undefined && compared > 0)
  return compared !== undefined
}

import type { DirectoryCtx } from '../../http/scim-operation.ts'
import { ScimProblem } from '../../http/scim-problem.ts'
import { Problem } from '../../kernel/errors.ts'
import type { DirectoryUser } from './directory-user.ts'
import { areMany, type Removals } from './removal.ts'
import { countRemoval, lockRemovals, reportKeptOwner, reportRemovals } from './removal-store.ts'

/** Too many users would go: thrown to undo the removal that was one too many. */
class ManyRemovals extends Error {
  readonly removals: Removals

  constructor(removals: Removals) {
    super('a directory removes many users')
    this.removals = removals
  }
}

/**
 * Removes a user of a directory in one transaction, and counts it if they were active. Where the directory removes many, the owners are notified, and where the
 * tenant wants that, the removal is refused. `remove` returns undefined where it removed nobody.
 * @throws ScimProblem 403 for one of many removals; 409 for the last owner
 */
export async function guardRemoval<Result>(
  ctx: DirectoryCtx,
  before: Pick<DirectoryUser, 'id' | 'active'>,
  remove: (inside: DirectoryCtx) => Promise<Result | undefined>,
): Promise<Result | undefined> {
  try {
    return await ctx.tx.interactive(async (tx) => {
      const inside = { ...ctx, tx }
      if (before.active) await lockRemovals(inside)
      const result = await remove(inside)
      if (result === undefined || !before.active) return result
      const removals = await countRemoval(inside)
      if (!areMany(removals)) return result
      if (removals.refuses) throw new ManyRemovals(removals)
      await reportRemovals(inside, removals, false)
      return result
    })
  } catch (thrown) {
    if (thrown instanceof ManyRemovals) {
      await reportRemovals(ctx, thrown.removals, true)
      const means = 'set `mass_removals` of its identity provider to `notify` to let them through'
      throw new ScimProblem(403, `the directory removes more than 20 % of its users within an hour; ${means}`)
    }
    if (thrown instanceof Problem && thrown.code === 'last_owner') {
      await reportKeptOwner(ctx, before.id)
      throw new ScimProblem(409, 'this user is the last active owner of the tenant: make another owner first')
    }
    throw thrown
  }
}

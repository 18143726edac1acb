import { isRowsOwnFault } from '../../db/client/constraints.ts'
import type { DirectoryCtx } from '../../http/scim-operation.ts'
import { ScimProblem } from '../../http/scim-problem.ts'
import { batched } from '../../kernel/batch.ts'
import { Problem } from '../../kernel/errors.ts'
import { createLruCache } from '../../kernel/lru-cache.ts'
import { lockUsersAlone } from '../../users/lifecycle-store.ts'
import type { DirectoryUser } from './directory-user.ts'
import { areMany, type Removals } from './removal.ts'
import { countRemovals, lockRemovals, reportKeptOwner, reportRemovals } from './removal-store.ts'

export const changedMeanwhile = (): ScimProblem =>
  new ScimProblem(409, 'other calls are changing the user; send it again', undefined)

/** Too many users would go: thrown to undo the removal that was one too many. */
class ManyRemovals extends Error {
  readonly removals: Removals

  constructor(removals: Removals) {
    super('a directory removes many users')
    this.removals = removals
  }
}

type Removal = {
  ctx: DirectoryCtx
  before: Pick<DirectoryUser, 'id' | 'is_owner'>
  /** Whether it is one of those of which there may be too many. */
  isCounted: boolean
  /** Returns undefined where it removed nobody. */
  remove(inside: DirectoryCtx): Promise<unknown>
}

/**
 * Removes a user of a directory, whom it locks, and counts it. Where the directory removes many, the owners are notified,
 * and where the tenant wants that, the removal is refused. `remove` returns undefined where it removed nobody.
 *
 * Calls of one key that wait at the same moment share a transaction. If a directory that stops a thousand users had one for each, they would
 * take turns with each other, and every other caller with them.
 * @throws ScimProblem 403 for one of many removals; 409 for the last owner, and for one who became an owner meanwhile
 */
export async function guardRemoval<Result>(
  ctx: DirectoryCtx,
  { before, isCounted }: Pick<Removal, 'before' | 'isCounted'>,
  remove: (inside: DirectoryCtx) => Promise<Result | undefined>,
): Promise<Result | undefined> {
  const removal = { ctx, before, isCounted, remove }
  try {
    const removed = await (before.is_owner ? removeAlone(removal) : removeTogether(keyOf(ctx), removal))
    return removed as Result | undefined
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

/** The maximum number of removals in one transaction, which holds the locks of all of them. */
const maxBatch = 64

/** Transactions of one key at once: while the database works on one, the other is prepared. */
const maxBatches = 2

/** If one of them fails, or they are many and refused, each is done alone, and has its own answer. */
const removeTogether = batched(
  maxBatch,
  (_: object, removals: readonly Removal[]) => removeAll(removals),
  isRowsOwnFault,
  { atOnce: maxBatches },
)

const removeAlone = async (removal: Removal) => (await removeAll([removal]))[0]

/** One object for all calls of a key: before a transaction commits, the key of one call is proved for all. */
const keys = createLruCache<object>(1_000)

function keyOf({ tx, identity_provider_id, actor }: DirectoryCtx): object {
  const name = `${tx.tenant_id} ${identity_provider_id} ${actor.api_key_id}`
  const known = keys.get(name) ?? {}
  keys.set(name, known)
  return known
}

async function removeAll(removals: readonly Removal[]): Promise<unknown[]> {
  const [first] = removals
  if (first === undefined) return []
  return first.ctx.tx.interactive(async (tx) => {
    const inside = { ...first.ctx, tx }
    if (removals.some(({ isCounted }) => isCounted)) await lockRemovals(inside)
    await lockThem(inside, removals)
    const start = ({ ctx, remove }: Removal) => remove({ ...ctx, tx })
    // The connection prepares the statements for the first one: sent at once, each would be parsed and planned for each user.
    const settled = await Promise.allSettled([start(first)])
    settled.push(...(await Promise.allSettled(removals.slice(1).map(start))))
    // One that failed by itself made the others fail, with errors that say nothing of them.
    const faults = settled.flatMap((one) => (one.status === 'rejected' ? [one.reason as unknown] : []))
    if (faults.length > 0) throw faults.find(isRowsOwnFault) ?? faults[0]
    const results = settled.map((one) => (one.status === 'fulfilled' ? one.value : undefined))
    const count = removals.filter(({ isCounted }, at) => isCounted && results[at] !== undefined).length
    if (count === 0) return results
    const counted = await countRemovals(inside, count)
    if (!areMany(counted)) return results
    if (counted.refuses) throw new ManyRemovals(counted)
    await reportRemovals(inside, counted, false)
    return results
  })
}

/**
 * INVARIANT: an owner is locked together with the other owners, always in the same order, and so alone and by `remove`.
 * @throws ScimProblem 409 where one of the users became an owner meanwhile
 */
async function lockThem({ tx }: DirectoryCtx, removals: readonly Removal[]): Promise<void> {
  const ids = removals.flatMap(({ before }) => (before.is_owner ? [] : [before.id]))
  if (ids.length === 0) return
  const locked = await lockUsersAlone(tx, ids)
  if (locked.some(({ is_owner }) => is_owner)) throw changedMeanwhile()
}

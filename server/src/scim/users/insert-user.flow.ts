import type { DirectoryCtx } from '../../http/scim-operation.ts'
import { notUnique, ScimProblem } from '../../http/scim-problem.ts'
import { Problem } from '../../kernel/errors.ts'
import { newId } from '../../kernel/id.ts'
import { lockUserAlone } from '../../users/lifecycle-store.ts'
import { adoptUser } from './adopt-user.flow.ts'
import type { ChangeParts } from './change-user.flow.ts'
import { keepConflict } from './conflict-store.ts'
import type { DirectoryUser } from './directory-user.ts'
import { insertDirectoryUser } from './directory-user-store.ts'
import { type Holder, strangerOf, takenBy } from './holder.ts'
import { findHolders } from './holder-store.ts'
import type { UserContent } from './user-content.ts'

const maxAttempts = 3

/** 409: a person has to settle who the user is here. */
export class UnsettledUser extends ScimProblem {
  constructor({ is_former }: Holder) {
    const who = is_former
      ? 'a user whom this directory has stopped has the e-mail address or the `userName`'
      : 'a user whom no directory manages has the e-mail address'
    super(409, `${who}: an administrator has to settle who they are`, 'uniqueness')
  }
}

/**
 * Makes a user of the directory. Of concurrent calls for one person the database lets one in, and the others then find the user.
 * @throws ScimProblem 409
 */
export async function insertUser(ctx: DirectoryCtx, parts: ChangeParts, content: UserContent): Promise<DirectoryUser> {
  for (let attempt = 1; ; attempt += 1) {
    const { has_id, holders } = await findHolders(ctx, content.person)
    if (has_id) throw notUnique('a user of this directory has the `externalId`')
    try {
      return await makeUser(ctx, parts, content, holders)
    } catch (error) {
      const isRace = error instanceof Problem && (error.code === 'user_exists' || error.code === 'version_conflict')
      if (!isRace || attempt === maxAttempts) throw error
    }
  }
}

/**
 * INVARIANT: an address alone makes nobody a user of a directory: else who controls the directory would take over an account here.
 * @throws ScimProblem 409 where a person has to settle who the user is
 */
async function makeUser(
  ctx: DirectoryCtx,
  parts: ChangeParts,
  content: UserContent,
  holders: readonly Holder[],
): Promise<DirectoryUser> {
  const who = strangerOf(holders, content.person.email)
  const [holder] = holders
  if (who === 'add' || holder === undefined) return insertDirectoryUser(ctx, newId(), content)
  if (who === 'taken') throw takenBy(holders)
  // Nobody is stopped by an adoption: the guard of many removals would not count it.
  if (who === 'adopt' && content.person.active) return adoptHolder(ctx, parts, content, holder)
  await keepConflict(ctx, holder.id, content)
  throw new UnsettledUser(holder)
}

/** Tried again by `insertUser`. */
const changedMeanwhile = () =>
  new Problem('version_conflict', 'the account with the address is changing; send it again')

function adoptHolder(
  ctx: DirectoryCtx,
  parts: ChangeParts,
  content: UserContent,
  { id }: Holder,
): Promise<DirectoryUser> {
  return ctx.tx.interactive(async (tx) => {
    const inside = { ...ctx, tx }
    await lockUserAlone(tx, id)
    // Again, under the lock: the account may have been deactivated, deleted or linked meanwhile.
    const { holders } = await findHolders(inside, content.person)
    if (holders[0]?.id !== id || strangerOf(holders, content.person.email) !== 'adopt') throw changedMeanwhile()
    return adoptUser(inside, parts, id, content)
  })
}

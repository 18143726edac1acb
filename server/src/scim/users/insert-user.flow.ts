import type { DirectoryCtx } from '../../http/scim-operation.ts'
import { notUnique, ScimProblem } from '../../http/scim-problem.ts'
import { sameAddress } from '../../kernel/email-address.ts'
import { Problem } from '../../kernel/errors.ts'
import { newId } from '../../kernel/id.ts'
import { lockUserAlone } from '../../users/lifecycle-store.ts'
import { adoptUser } from './adopt-user.flow.ts'
import type { ChangeParts } from './change-user.flow.ts'
import { keepConflict } from './conflict-store.ts'
import type { DirectoryUser } from './directory-user.ts'
import { findHolders, type Holder, type Holders, insertDirectoryUser } from './directory-user-store.ts'
import type { UserContent } from './user-content.ts'

const maxAttempts = 3

/** 409: a person has to settle who the user is here. */
export class UnsettledUser extends ScimProblem {
  constructor(who: string) {
    super(409, `${who} has the e-mail address: an administrator has to settle who they are`, 'uniqueness')
  }
}

/**
 * Makes a user of the directory. Of concurrent calls for one person the database lets one in, and the others then find the user.
 * @throws ScimProblem 409
 */
export async function insertUser(ctx: DirectoryCtx, parts: ChangeParts, content: UserContent): Promise<DirectoryUser> {
  for (let attempt = 1; ; attempt += 1) {
    const found = await findHolders(ctx, content.person)
    const former = formerUser(found)
    if (former !== undefined) {
      await keepConflict(ctx, former, content)
      throw new UnsettledUser('a user whom this directory has stopped')
    }
    if (found.has_id || found.named !== null) throw notUnique(nameTaken)
    try {
      if (found.holders.length > 0) return await settleAddress(ctx, parts, content, found.holders)
      return await insertDirectoryUser(ctx, newId(), content)
    } catch (error) {
      const isRace = error instanceof Problem && (error.code === 'user_exists' || error.code === 'version_conflict')
      if (!isRace || attempt === maxAttempts) throw error
    }
  }
}

const nameTaken = 'a user of this directory has the `userName` or the `externalId`'

/**
 * The id of the one user whom the directory stopped, and who has the address or the name: the person may have come back under another
 * external id, or somebody else may have got the address of one who left.
 */
function formerUser({ has_id, named, holders }: Holders): string | undefined {
  const all = named === null ? holders : [...holders, named]
  const [id, ...others] = new Set(all.map((one) => one.id))
  return !has_id && others.length === 0 && all.every(({ is_former }) => is_former) ? id : undefined
}

/** Tried again by `insertUser`. */
const changedMeanwhile = () =>
  new Problem('version_conflict', 'the account with the address is changing; send it again')

/**
 * INVARIANT: an address alone makes nobody a user of a directory: else who controls the directory would take over an account here.
 * @throws ScimProblem 409 where a person has to settle who the user is
 */
async function settleAddress(
  ctx: DirectoryCtx,
  parts: ChangeParts,
  content: UserContent,
  holders: readonly Holder[],
): Promise<DirectoryUser> {
  const [holder, ...others] = holders
  if (holder === undefined || others.length > 0 || holder.in_directory) {
    throw notUnique('another user has the e-mail address, or one like it')
  }
  const { id, email, is_meant } = holder
  if (!is_meant || !sameAddress(email, content.person.email)) {
    await keepConflict(ctx, id, content)
    throw new UnsettledUser('a user whom no directory manages')
  }
  return ctx.tx.interactive(async (tx) => {
    const inside = { ...ctx, tx }
    await lockUserAlone(tx, id)
    // Again, under the lock: the account may have been deactivated, deleted or linked meanwhile.
    const [still, ...more] = (await findHolders(inside, content.person)).holders
    if (still?.id !== id || !still.is_meant || more.length > 0) throw changedMeanwhile()
    return adoptUser(inside, parts, id, content)
  })
}

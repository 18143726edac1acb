import type { NewEvent } from '../../events/emit.ts'
import type { DirectoryCtx } from '../../http/scim-operation.ts'
import { Problem } from '../../kernel/errors.ts'
import { leave } from '../../users/lifecycle-store.ts'
import { type ChangeParts, stateEvents } from './change-user.flow.ts'
import type { DirectoryUser } from './directory-user.ts'
import { linkDirectoryUser, saveDirectoryUser } from './directory-user-store.ts'
import type { UserContent } from './user-content.ts'

/**
 * Gives a locked user to the directory: what it says of them counts from then on. Only inside `interactive`.
 * @throws Problem 409 `last_owner` for an owner who has left; `version_conflict` where a directory has them already, or the directory has another user of the name
 */
export async function adoptUser(
  inside: DirectoryCtx,
  { endAccess }: ChangeParts,
  id: string,
  content: UserContent,
): Promise<DirectoryUser> {
  const { identity_provider_id } = inside
  const about = { subject_type: 'user', subject_id: id } as const
  const before = await linkDirectoryUser(inside, id, content.person)
  const { active } = content.person
  if (before.is_owner && !active) {
    throw new Problem('last_owner', 'the directory says that this owner has left: make another user the owner first')
  }
  const events: NewEvent[] = [
    { type: 'user.updated', ...about, data: { fields: ['identity_provider_id'], identity_provider_id } },
    ...stateEvents(inside, before, active),
  ]
  const saved = await saveDirectoryUser(inside, { before, after: content, gone: [], found: content.values, events })
  if (saved === undefined) throw new Error('a user was given to a directory and not found')
  if (before.active && !active) await leave(inside, { id }, endAccess, 'its holder was deactivated in the directory')
  return saved
}

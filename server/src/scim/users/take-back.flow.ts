import type { DirectoryCtx } from '../../http/scim-operation.ts'
import { ScimProblem } from '../../http/scim-problem.ts'
import { Problem } from '../../kernel/errors.ts'
import { type ChangeParts, changeUser } from './change-user.flow.ts'
import type { UserContent } from './user-content.ts'

/**
 * Says that a locked user whom the directory has stopped is the person whom it has now, under another id: what it says of that person counts
 * from then on. Only inside `interactive`.
 * @throws Problem 409 `version_conflict` where another user has the name, the id or the address by now
 */
export async function takeBack(
  inside: DirectoryCtx,
  parts: ChangeParts,
  id: string,
  { resource }: UserContent,
): Promise<void> {
  try {
    await changeUser(inside, parts, { id, ifMatch: undefined, of: () => resource })
  } catch (error) {
    if (error instanceof ScimProblem) throw new Problem('version_conflict', error.message)
    throw error
  }
}

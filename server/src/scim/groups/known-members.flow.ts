import type { DirectoryCtx } from '../../http/scim-operation.ts'
import { invalidValue } from '../../http/scim-problem.ts'
import { readUuid } from '../../kernel/id.ts'
import { findMemberIds } from './directory-group-store.ts'

/**
 * The ids as they are stored, each of a user of the directory.
 * @throws ScimProblem 400 that names the first that are not
 */
export async function requireMembers(ctx: DirectoryCtx, ids: readonly string[]): Promise<string[]> {
  if (ids.length === 0) return []
  const read = new Map(ids.map((id) => [id, readUuid(id)]))
  const known = await findMemberIds(
    ctx,
    [...read.values()].filter((id) => id !== undefined),
  )
  const unknown = ids.filter((id) => !known.has(read.get(id) ?? ''))
  if (unknown.length === 0) return [...known]
  const named = unknown.slice(0, 5).map((id) => `\`${id.slice(0, 100)}\``)
  const more = unknown.length > 5 ? ` and ${unknown.length - 5} more` : ''
  throw invalidValue(`the directory has no user with the id ${named.join(', ')}${more}`)
}

/** The ids as they are stored, without those that cannot be one. */
export const storedIds = (ids: readonly string[]): string[] => ids.map(readUuid).filter((id) => id !== undefined)

import type { DirectoryCtx, GroupingCtx } from '../../http/scim-operation.ts'
import { noResource, ScimProblem } from '../../http/scim-problem.ts'
import { Problem } from '../../kernel/errors.ts'
import { requireVersion } from '../version.ts'
import type { DirectoryGroup } from './directory-group.ts'
import { findDirectoryGroup, saveDirectoryGroup } from './directory-group-store.ts'
import { type GroupChange, groupKnown } from './group-change.ts'
import { requireMembers, storedIds } from './known-members.flow.ts'

/**
 * Changes a group of the directory. Changes of members by several calls at once add up; one that names a version counts for that alone.
 * @throws ScimProblem 400 for a member who is no user of the directory, 404, 409, 412
 */
export async function changeGroup(
  ctx: GroupingCtx,
  { id, ifMatch }: { id: string; ifMatch: string | undefined },
  change: GroupChange,
): Promise<DirectoryGroup> {
  const { all, added, removed } = change.members
  const members = { all, added: await requireMembers(ctx, added), removed: storedIds(removed) }
  const version = await versionToChange(ctx, id, ifMatch)
  try {
    const saved = await saveDirectoryGroup(ctx, id, { ...change, members }, version)
    if (saved !== undefined) return saved
  } catch (error) {
    throw error instanceof Problem && error.code === 'version_conflict' ? groupKnown() : error
  }
  if (version === undefined) throw noResource('Group')
  throw new ScimProblem(412, 'the group has changed since the version in `If-Match`; read it again')
}

/** The version that the client has seen, where it names one. */
export async function versionToChange(
  ctx: DirectoryCtx,
  id: string,
  ifMatch: string | undefined,
): Promise<string | undefined> {
  if (ifMatch === undefined) return undefined
  const found = await findDirectoryGroup(ctx, id)
  if (found === undefined) throw noResource('Group')
  requireVersion(ifMatch, found.version)
  return found.version
}

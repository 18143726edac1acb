import type { ScimAnswer, ScimCtx } from '../../http/scim-operation.ts'
import { resourceUrl } from '../resource-url.ts'
import { isShown, type Selection } from '../shown-resource.ts'
import { weakTag } from '../version.ts'
import type { DirectoryGroup } from './directory-group.ts'
import { listDirectoryMembers } from './directory-group-store.ts'
import { shownGroup } from './shown-group.ts'

/** The answer with one group, and its members where the client wants to see them. */
export async function groupAnswer(
  ctx: ScimCtx,
  status: 200 | 201,
  group: DirectoryGroup,
  selection: Selection,
): Promise<ScimAnswer> {
  const members = isShown(selection, 'members') ? await listDirectoryMembers(ctx, [group.id]) : []
  return {
    status,
    body: shownGroup(ctx, group, members, selection),
    etag: weakTag(group.version),
    location: resourceUrl(ctx, 'Groups', group.id),
  }
}

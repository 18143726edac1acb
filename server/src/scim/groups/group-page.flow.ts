import type { ScimCtx } from '../../http/scim-operation.ts'
import type { ListRequest } from '../list-request.ts'
import type { Resource } from '../read-resource.ts'
import { isShown } from '../shown-resource.ts'
import type { DirectoryMember } from './directory-group.ts'
import { listDirectoryMembers } from './directory-group-store.ts'
import { type ListedGroup, listDirectoryGroups } from './group-list-store.ts'
import { shownGroup } from './shown-group.ts'

/** The members of all groups of a page; a page with more has fewer groups. */
const maxMembersOfPage = 20_000

/** A page of the groups as answers show them. */
export async function listGroupResources(
  ctx: ScimCtx,
  request: ListRequest,
): Promise<{ total: number; resources: Resource[] }> {
  const page = await listDirectoryGroups(ctx, request)
  const showsMembers = isShown(request.selection, 'members')
  const groups = showsMembers ? withinBounds(page.groups) : page.groups
  const members = showsMembers ? await membersOf(ctx, groups) : new Map<string, DirectoryMember[]>()
  const resources = groups.map((group) => shownGroup(ctx, group, members.get(group.id) ?? [], request.selection))
  return { total: page.total, resources }
}

/** The first groups, as many as have not too many members together, and at least one. */
function withinBounds(groups: readonly ListedGroup[]): readonly ListedGroup[] {
  let members = 0
  const over = groups.findIndex(({ member_count }) => {
    members += member_count
    return members > maxMembersOfPage
  })
  return over === -1 ? groups : groups.slice(0, Math.max(over, 1))
}

async function membersOf(ctx: ScimCtx, groups: readonly ListedGroup[]): Promise<Map<string, DirectoryMember[]>> {
  const full = groups.filter(({ member_count }) => member_count > 0)
  const members =
    full.length === 0
      ? []
      : await listDirectoryMembers(
          ctx,
          full.map(({ id }) => id),
        )
  return Map.groupBy(members, ({ group_id }) => group_id)
}

import type { ScimCtx } from '../../http/scim-operation.ts'
import { groupKind, groupSchema } from '../attribute.ts'
import type { Resource } from '../read-resource.ts'
import { resourceUrl } from '../resource-url.ts'
import { type Selection, selected } from '../shown-resource.ts'
import { weakTag } from '../version.ts'
import type { DirectoryGroup, DirectoryMember } from './directory-group.ts'

/** A group as answers show it. */
export function shownGroup(
  ctx: ScimCtx,
  group: DirectoryGroup,
  members: readonly DirectoryMember[],
  selection: Selection,
): Resource {
  const { id, display_name, external_id, created_at, updated_at, version } = group
  const whole = {
    schemas: [groupSchema],
    id,
    ...(external_id !== null && { externalId: external_id }),
    displayName: display_name,
    ...(members.length > 0 && { members: members.map(({ user_id }) => shownMember(ctx, user_id)) }),
    meta: {
      resourceType: groupKind.name,
      created: created_at,
      lastModified: updated_at,
      location: resourceUrl(ctx, 'Groups', id),
      version: weakTag(version),
    },
  }
  return selected(whole, selection)
}

function shownMember(ctx: ScimCtx, user_id: string): Resource {
  return { value: user_id, type: 'User', $ref: resourceUrl(ctx, 'Users', user_id) }
}

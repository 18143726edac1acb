import { groupKind } from '../attribute.ts'
import { readResource } from '../read-resource.ts'
import { requireId } from '../resource-id.ts'
import type { ScimOperation } from '../scim-operation.ts'
import { readSelection } from '../shown-resource.ts'
import { changeGroup } from './change-group.flow.ts'
import { groupBodyLimit } from './create-group.ts'
import { groupContentOf, memberIds } from './group-change.ts'
import { groupAnswer } from './shown-group.ts'

/** Replaces the name and the members of a group of the directory. */
export const replaceGroup: ScimOperation = {
  method: 'PUT',
  path: '/Groups/{group_id}',
  changes: 'authority',
  bodyLimit: groupBodyLimit,
  async run(ctx, { params, query, body, header }) {
    const selection = readSelection(groupKind, query)
    const resource = readResource(groupKind, body)
    const members = { all: true, added: memberIds(resource.members), removed: [] }
    const where = { id: requireId('Group', params.group_id), ifMatch: header('if-match') }
    const group = await changeGroup(ctx, where, { ...groupContentOf(resource), members })
    return groupAnswer(ctx, 200, group, selection)
  },
}

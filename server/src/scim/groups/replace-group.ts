import { scimOperation } from '../../http/scim-operation.ts'
import { groupKind } from '../attribute.ts'
import { readResource } from '../read-resource.ts'
import { requireId } from '../resource-id.ts'
import { readSelection } from '../shown-resource.ts'
import { changeGroup } from './change-group.flow.ts'
import { groupAnswer } from './group-answer.flow.ts'
import { groupBodyLimit, groupContentOf, memberIds } from './group-change.ts'

/** Replaces the name and the members of a group of the directory. */
export const replaceGroup = scimOperation({
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
})

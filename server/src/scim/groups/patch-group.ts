import { scimOperation } from '../../http/scim-operation.ts'
import { groupKind } from '../attribute.ts'
import { readPatch } from '../patch.ts'
import { requireId } from '../resource-id.ts'
import { readSelection } from '../shown-resource.ts'
import { weakTag } from '../version.ts'
import { changeGroup } from './change-group.flow.ts'
import { groupAnswer } from './group-answer.flow.ts'
import { groupBodyLimit, groupChangeOf } from './group-change.ts'

/** Changes the name or the members of a group of the directory. The answer is empty unless the client names attributes: a group may be large. */
export const patchGroup = scimOperation({
  method: 'PATCH',
  path: '/Groups/{group_id}',
  changes: 'authority',
  bodyLimit: groupBodyLimit,
  async run(ctx, { params, query, body, header }) {
    const selection = readSelection(groupKind, query)
    const change = groupChangeOf(readPatch(groupKind, body))
    const group = await changeGroup(
      ctx,
      { id: requireId('Group', params.group_id), ifMatch: header('if-match') },
      change,
    )
    if (selection.only !== undefined || selection.without !== undefined) return groupAnswer(ctx, 200, group, selection)
    return { status: 204, etag: weakTag(group.version) }
  },
})

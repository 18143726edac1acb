import { scimOperation } from '../../http/scim-operation.ts'
import { noResource } from '../../http/scim-problem.ts'
import { groupKind } from '../attribute.ts'
import { requireId } from '../resource-id.ts'
import { readSelection } from '../shown-resource.ts'
import { unchanged } from '../version.ts'
import { findDirectoryGroup } from './directory-group-store.ts'
import { groupAnswer } from './group-answer.flow.ts'

/** Returns a group of the directory with its members. */
export const getGroup = scimOperation({
  method: 'GET',
  path: '/Groups/{group_id}',
  async run(ctx, { params, query, header }) {
    const selection = readSelection(groupKind, query)
    const group = await findDirectoryGroup(ctx, requireId('Group', params.group_id))
    if (group === undefined) throw noResource('Group')
    return unchanged(header('if-none-match'), group.version) ?? groupAnswer(ctx, 200, group, selection)
  },
})

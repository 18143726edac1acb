import { scimOperation } from '../../http/scim-operation.ts'
import { noResource } from '../../http/scim-problem.ts'
import { requireId } from '../resource-id.ts'
import { versionToChange } from './change-group.flow.ts'
import { deleteDirectoryGroup } from './directory-group-store.ts'

/** Deletes a group of the directory: its members lose what it gave them. */
export const deleteGroup = scimOperation({
  method: 'DELETE',
  path: '/Groups/{group_id}',
  changes: 'authority',
  async run(ctx, { params, header }) {
    const id = requireId('Group', params.group_id)
    const version = await versionToChange(ctx, id, header('if-match'))
    if (!(await deleteDirectoryGroup(ctx, id, version))) throw noResource('Group')
    return { status: 204 }
  },
})

import { keepRefusal } from '../events/keep-refusal.ts'
import { operation } from '../http/operation.ts'
import { IdParams } from '../http/schema.ts'
import { notFound } from '../kernel/errors.ts'
import { requireLocal } from './group.ts'
import { deleteLocalGroup, findGroup } from './group-store.ts'

export const deleteGroup = operation({
  method: 'DELETE',
  path: '/v1/groups/{id}',
  summary: 'Delete a local group; its members lose what it gave',
  credential: 'any',
  scope: 'groups:write',
  params: IdParams,
  replies: { 204: null },
  errors: ['not_found'],
  changes: 'authority',
  async run(ctx, { params }): Promise<undefined> {
    if (await deleteLocalGroup(ctx, params.id)) return
    const group = await findGroup(ctx.tx, params.id)
    if (group === undefined) throw notFound('group')
    await keepRefusal(ctx, { subject_type: 'group', subject_id: group.id }, async () => requireLocal(group))
  },
})

import { keepRefusal } from '../events/keep-refusal.ts'
import { operation } from '../http/operation.ts'
import { IdParams } from '../http/schema.ts'
import { notFound } from '../kernel/errors.ts'
import { Group, GroupChange, requireLocal } from './group.ts'
import { findGroup, saveLocalGroup } from './group-store.ts'

/** Changes the sent fields of a local group. A change without effect writes nothing and emits no event. */
export const updateGroup = operation({
  method: 'PATCH',
  path: '/v1/groups/{id}',
  summary: 'Update the name or the description of a local group',
  credential: 'any',
  scope: 'groups:write',
  params: IdParams,
  body: GroupChange,
  replies: { 200: Group },
  errors: ['not_found'],
  async run(ctx, { params, body }) {
    const saved = await saveLocalGroup(ctx, params.id, body)
    if (saved !== undefined) return saved
    const group = await findGroup(ctx.tx, params.id)
    if (group === undefined) throw notFound('group')
    return keepRefusal(ctx, { subject_type: 'group', subject_id: group.id }, async () => {
      requireLocal(group)
      return group
    })
  },
})

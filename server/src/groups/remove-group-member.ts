import { keepRefusal } from '../events/keep-refusal.ts'
import { operation } from '../http/operation.ts'
import { notFound } from '../kernel/errors.ts'
import { MemberParams, requireLocal } from './group.ts'
import { deleteLocalMember, findMembership } from './group-member-store.ts'

export const removeGroupMember = operation({
  method: 'DELETE',
  path: '/v1/groups/{id}/members/{user_id}',
  summary: 'Remove a member from a group',
  credential: 'any',
  scope: 'groups:write',
  params: MemberParams,
  replies: { 204: null },
  errors: ['not_found'],
  changes: 'authority',
  async run(ctx, { params }): Promise<undefined> {
    if (await deleteLocalMember(ctx, params.id, params.user_id)) return
    const found = await findMembership(ctx.tx, params.id, params.user_id)
    if (found === undefined || !found.is_member) throw notFound('member')
    await keepRefusal(ctx, { subject_type: 'group', subject_id: params.id }, async () => requireLocal(found))
    throw notFound('member')
  },
})

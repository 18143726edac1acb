import { keepRefusal } from '../events/keep-refusal.ts'
import { operation } from '../http/operation.ts'
import { notFound, Problem } from '../kernel/errors.ts'
import { requireMayTake } from '../roles/role.ts'
import { MemberParams, requireLocal } from './group.ts'
import { deleteLocalMember, findMembership } from './group-member-store.ts'

/** How often the removal is tried when its obstacle is gone by the time it is read. */
const attempts = 3

/** Removes a user from a local group. The group must give no scope that the caller lacks. */
export const removeGroupMember = operation({
  method: 'DELETE',
  path: '/v1/groups/{id}/members/{user_id}',
  summary: 'Remove a member from a group',
  credential: 'any',
  scope: 'groups:write',
  params: MemberParams,
  replies: { 204: null },
  errors: ['not_found', 'version_conflict'],
  changes: 'authority',
  async run(ctx, { params }): Promise<undefined> {
    for (let attempt = 1; attempt <= attempts; attempt += 1) {
      if (await deleteLocalMember(ctx, params.id, params.user_id)) return
      const found = await findMembership(ctx.tx, params.id, params.user_id)
      if (found === undefined || !found.is_member) throw notFound('member')
      await keepRefusal(ctx, { subject_type: 'group', subject_id: params.id }, async () => {
        requireLocal(found)
        requireMayTake(ctx.actor.scopes, found.conferred)
      })
    }
    throw new Problem('version_conflict', 'other requests are changing the group; try again')
  },
})

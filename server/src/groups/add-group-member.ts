import { keepRefusal } from '../events/keep-refusal.ts'
import { operation } from '../http/operation.ts'
import { Body, IdParams, Uuid } from '../http/schema.ts'
import { Problem } from '../kernel/errors.ts'
import { requireMayGive } from '../roles/role.ts'
import { GroupMember, noGroupOrUser, requireLocal } from './group.ts'
import { findMembership, insertLocalMember } from './group-member-store.ts'

/** How often it is tried when what stood in the way is gone by the time it is looked for. */
const attempts = 3

/** Makes a user a member of a local group. Nobody grants a scope that they lack, so the group gives none of those. */
export const addGroupMember = operation({
  method: 'POST',
  path: '/v1/groups/{id}/members',
  summary: 'Add a member to a group',
  credential: 'any',
  scope: 'groups:write',
  params: IdParams,
  body: Body({ user_id: Uuid }),
  replies: { 201: GroupMember },
  errors: ['not_found', 'already_member', 'version_conflict'],
  changes: 'authority',
  async run(ctx, { params, body }) {
    const user_id = body.user_id.toLowerCase()
    for (let attempt = 1; attempt <= attempts; attempt += 1) {
      const made = await insertLocalMember(ctx, params.id, user_id)
      if (made !== undefined) return made
      const found = await findMembership(ctx.tx, params.id, user_id)
      if (found === undefined) throw noGroupOrUser()
      await keepRefusal(ctx, { subject_type: 'group', subject_id: params.id }, async () => {
        requireLocal(found)
        requireMayGive(ctx.actor.scopes, found.conferred)
      })
      if (found.is_member) throw new Problem('already_member', 'the user is a member of the group already')
    }
    throw new Problem('version_conflict', 'the group is being changed by others just now; try again')
  },
})

import { keepRefusal } from '../events/keep-refusal.ts'
import { operation } from '../http/operation.ts'
import { Body, IdParams, Uuid } from '../http/schema.ts'
import { Problem } from '../kernel/errors.ts'
import { requireMayGive } from '../roles/role.ts'
import { GroupMember, noGroupOrUser, requireLocal } from './group.ts'
import { findMembership, insertLocalMember } from './group-member-store.ts'

/** How often the insert is tried when its obstacle is gone by the time it is read. */
const attempts = 3

/** Makes a user a member of a local group. The group must give no scope that the caller lacks. */
export const addGroupMember = operation({
  method: 'POST',
  path: '/v1/groups/{id}/members',
  summary: 'Add a member to a group',
  credential: 'any',
  scope: 'groups:write',
  freshSignIn: true,
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
      if (found.is_member) throw new Problem('already_member', 'the user is already a member of the group')
    }
    throw new Problem('version_conflict', 'other requests are changing the group; try again')
  },
})

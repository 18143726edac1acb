import { keepRefusal } from '../events/keep-refusal.ts'
import { readIfMatch, recordTag, requireMatch } from '../http/if-match.ts'
import { operation } from '../http/operation.ts'
import { Body, IdParams } from '../http/schema.ts'
import { notFound, Problem } from '../kernel/errors.ts'
import { planRoles, RoleIds, readRoleIds } from '../roles/role.ts'
import { findRoles } from '../roles/role-store.ts'
import { requireMayTakeFrom } from './lifecycle.ts'
import { User } from './user.ts'
import { lockOwnRoles, saveOwnRoles } from './user-role-store.ts'
import { findUser } from './user-store.ts'

/**
 * Replaces a user's own roles. Roles from groups stay. The caller cannot grant a scope that they lack. Removing a role needs
 * every scope that the user holds.
 */
export const setUserRoles = operation({
  method: 'PUT',
  path: '/v1/users/{id}/roles',
  summary: "Set a user's own roles",
  credential: 'any',
  scope: 'users:write',
  freshSignIn: true,
  params: IdParams,
  body: Body({ roles: RoleIds }),
  replies: { 200: User },
  errors: ['not_found', 'unprocessable', 'last_owner', 'version_conflict'],
  changes: 'authority',
  etag: recordTag,
  takesIfMatch: true,
  run(ctx, { params, body, header }) {
    const tags = readIfMatch(header('if-match'))
    const wanted = readRoleIds(body.roles)
    return keepRefusal(ctx, { subject_type: 'user', subject_id: params.id }, () =>
      ctx.tx.interactive(async (tx) => {
        const held = await lockOwnRoles(tx, params.id)
        if (held === undefined) throw notFound('user')
        const change = planRoles(held.roles, wanted, await findRoles(tx, wanted), ctx.actor.scopes)
        if (change.removed.length > 0) requireMayTakeFrom({ id: params.id, scopes: held.scopes }, ctx.actor)
        if (held.is_owner && change.removed.includes('admin')) {
          throw new Problem(
            'last_owner',
            'this user owns the tenant, and an owner keeps the role `admin`: leave it in the list',
          )
        }
        const before = await findUser(tx, params.id)
        requireMatch(tags, before && recordTag(before))
        if (change.added.length + change.removed.length > 0) await saveOwnRoles({ ...ctx, tx }, params.id, change)
        const user = await findUser(tx, params.id)
        if (user === undefined) throw new Error('a locked user was not found')
        return user
      }),
    )
  },
})

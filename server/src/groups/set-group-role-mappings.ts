import { keepRefusal } from '../events/keep-refusal.ts'
import { readIfMatch, recordTag, requireMatch } from '../http/if-match.ts'
import { operation } from '../http/operation.ts'
import { Body, IdParams } from '../http/schema.ts'
import { notFound } from '../kernel/errors.ts'
import { planRoles, RoleIds, readRoleIds, requireMayTake, scopesOfRoles } from '../roles/role.ts'
import { findRoles } from '../roles/role-store.ts'
import { GroupDetail } from './group.ts'
import { settleWidening } from './group-mapping.flow.ts'
import { findGroup, lockRoleMappings, saveRoleMappings } from './group-store.ts'

/**
 * Replaces the roles that a group gives its members, whether it is local or managed by a directory. Neither an added nor a
 * removed role may carry a scope that the caller lacks. Where claims put users into the group, the caller vouches for what it gives now,
 * or the claims do so no longer.
 */
export const setGroupRoleMappings = operation({
  method: 'PUT',
  path: '/v1/groups/{id}/role-mappings',
  summary: 'Set the roles that a group gives its members',
  credential: 'any',
  scope: 'groups:write',
  freshSignIn: true,
  params: IdParams,
  body: Body({ role_ids: RoleIds }),
  replies: { 200: GroupDetail },
  errors: ['not_found', 'unprocessable', 'version_conflict'],
  changes: 'authority',
  etag: recordTag,
  takesIfMatch: true,
  run(ctx, { params, body, header }) {
    const tags = readIfMatch(header('if-match'))
    const wanted = readRoleIds(body.role_ids)
    return keepRefusal(ctx, { subject_type: 'group', subject_id: params.id }, () =>
      ctx.tx.interactive(async (tx) => {
        const held = await lockRoleMappings(tx, params.id)
        if (held === undefined) throw notFound('group')
        const known = await findRoles(tx, [...held, ...wanted])
        const change = planRoles(held, wanted, known, ctx.actor.scopes)
        requireMayTake(ctx.actor.scopes, scopesOfRoles(known, change.removed))
        const before = await findGroup(tx, params.id)
        requireMatch(tags, before && recordTag(before))
        const inside = { ...ctx, tx }
        const save = () => saveRoleMappings(inside, params.id, change)
        if (change.added.length > 0) await settleWidening(inside, { group_id: params.id }, save)
        else if (change.removed.length > 0) await save()
        const group = await findGroup(tx, params.id)
        if (group === undefined) throw new Error('a locked group was not found')
        return group
      }),
    )
  },
})

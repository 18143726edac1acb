import { keepRefusal } from '../events/keep-refusal.ts'
import { readIfMatch, requireMatch } from '../http/if-match.ts'
import { operation } from '../http/operation.ts'
import { notFound, Problem } from '../kernel/errors.ts'
import { RoleParams, readRoleId, requireMayTake, roleTag, systemRoleFixed } from './role.ts'
import { deleteUnusedRole, findRole } from './role-store.ts'

/** Deletes an unused role whose scopes the caller holds. A role in use must first be removed from its users and groups. */
export const deleteRole = operation({
  method: 'DELETE',
  path: '/v1/roles/{role_id}',
  summary: 'Delete an unused custom role',
  credential: 'any',
  scope: 'roles:write',
  params: RoleParams,
  replies: { 204: null },
  errors: ['not_found', 'role_in_use', 'version_conflict'],
  takesIfMatch: true,
  async run(ctx, { params, header }): Promise<undefined> {
    const tags = readIfMatch(header('if-match'))
    const id = readRoleId(params.role_id)
    if (await deleteUnusedRole(ctx, id, tags === 'any' ? undefined : tags)) return
    const role = await findRole(ctx.tx, id)
    if (role === undefined) throw notFound('role')
    await keepRefusal(ctx, { subject_type: 'role', subject_id: id }, async () => {
      if (role.system) throw systemRoleFixed(id)
      requireMayTake(ctx.actor.scopes, role.scopes)
    })
    requireMatch(tags, roleTag(role))
    throw new Problem('role_in_use', 'users hold this role or groups give it; remove it from them first')
  },
})

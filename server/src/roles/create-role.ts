import { keepRefusal } from '../events/keep-refusal.ts'
import { operation } from '../http/operation.ts'
import { newId } from '../kernel/id.ts'
import { asRole, NewRoleInput, Role, requireCustomName, requireMayGive, requireScopes, roleTag } from './role.ts'
import { insertRole } from './role-store.ts'

/** Creates a custom role. The role must carry no scope that the caller lacks, and must not have a system role's name. */
export const createRole = operation({
  method: 'POST',
  path: '/v1/roles',
  summary: 'Create a role',
  credential: 'any',
  scope: 'roles:write',
  body: NewRoleInput,
  replies: { 201: Role },
  location: ({ id }) => `/v1/roles/${id}`,
  errors: ['unprocessable'],
  etag: roleTag,
  async run(ctx, { body }) {
    const { name, description = '' } = body
    const scopes = requireScopes(body.scopes)
    const id = newId()
    return keepRefusal(ctx, { subject_type: 'role', subject_id: id }, async () => {
      requireCustomName(name)
      requireMayGive(ctx.actor.scopes, scopes)
      return asRole(await insertRole(ctx, { id, name, description, scopes }))
    })
  },
})

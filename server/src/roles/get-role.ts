import { operation } from '../http/operation.ts'
import { notFound } from '../kernel/errors.ts'
import { asRole, Role, RoleParams, readRoleId, roleTag } from './role.ts'
import { findRole } from './role-store.ts'

export const getRole = operation({
  method: 'GET',
  path: '/v1/roles/{role_id}',
  summary: 'Get a role',
  credential: 'any',
  scope: 'roles:read',
  params: RoleParams,
  replies: { 200: Role },
  errors: ['not_found'],
  etag: roleTag,
  async run(ctx, { params }) {
    const role = await findRole(ctx.tx, readRoleId(params.role_id))
    if (role === undefined) throw notFound('role')
    return asRole(role)
  },
})

import { Type } from 'typebox'
import { operation } from '../http/operation.ts'
import { PermissionGroup, permissionGroups } from './permission.ts'

/** Lists every scope that a role or an API key can hold. The list is the same for each tenant. */
export const listPermissions = operation({
  method: 'GET',
  path: '/v1/permissions',
  summary: 'List all permission scopes grouped by resource',
  credential: 'any',
  scope: null,
  replies: { 200: Type.Object({ data: Type.Array(PermissionGroup) }) },
  errors: [],
  run: async () => ({ data: permissionGroups }),
})

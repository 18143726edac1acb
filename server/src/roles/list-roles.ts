import { Type } from 'typebox'
import { operation } from '../http/operation.ts'
import { PageOf, pageQuery } from '../http/schema.ts'
import { asRole, Role } from './role.ts'
import { listRolesPage, roleKey } from './role-store.ts'

export const listRoles = operation({
  method: 'GET',
  path: '/v1/roles',
  summary: 'List roles, system roles first',
  credential: 'any',
  scope: 'roles:read',
  query: Type.Object(pageQuery, { additionalProperties: false }),
  replies: { 200: PageOf(Role) },
  errors: [],
  run: async (ctx, { page }) => page.of((await listRolesPage(ctx.tx, page)).map(asRole), roleKey),
})

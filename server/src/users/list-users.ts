import { Type } from 'typebox'
import { operation } from '../http/operation.ts'
import { PageOf, pageQuery } from '../http/schema.ts'
import { ListedUser } from './user.ts'
import { listUsersPage } from './user-store.ts'

/** Lists the tenant's users in the order of creation, without their pictures. */
export const listUsers = operation({
  method: 'GET',
  path: '/v1/users',
  summary: 'List users',
  credential: 'any',
  scope: 'users:read',
  query: Type.Object(pageQuery, { additionalProperties: false }),
  replies: { 200: PageOf(ListedUser) },
  errors: [],
  run: async (ctx, { page }) => page.of(await listUsersPage(ctx.tx, page), (user) => [user.id]),
})

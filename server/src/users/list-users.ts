import { Type } from 'typebox'
import { createdRange, Search, SeveralOf, SeveralTexts, SortBy } from '../http/list-query.ts'
import { operation } from '../http/operation.ts'
import { PageOf, pageQuery, Uuid } from '../http/schema.ts'
import { readUuid } from '../kernel/id.ts'
import { readRoleIds } from '../roles/role.ts'
import { authProviders, ListedUser } from './user.ts'
import { listUsersPage, userOrders } from './user-list-store.ts'

/** Lists the tenant's users without their pictures. */
export const listUsers = operation({
  method: 'GET',
  path: '/v1/users',
  summary: 'List users in the order of creation',
  credential: 'any',
  scope: 'users:read',
  query: Type.Object(
    {
      ...pageQuery,
      q: Search('the name and the e-mail address'),
      role: Type.Optional(SeveralTexts(200, 'ids of roles that users have themselves, as `roles` shows')),
      group: Type.Optional(Type.String({ ...Uuid, description: 'the id of a group whose members are listed' })),
      active: Type.Optional(Type.Boolean()),
      suspended: Type.Optional(Type.Boolean({ description: 'whether they are suspended now' })),
      auth_provider: Type.Optional(SeveralOf(authProviders)),
      ...createdRange,
      sort: SortBy(userOrders, 'created_at'),
    },
    { additionalProperties: false },
  ),
  replies: { 200: PageOf(ListedUser) },
  errors: [],
  async run(ctx, { query: { role, group, ...query }, page }) {
    const links = {
      ...(role !== undefined && { role: readRoleIds(role) }),
      ...(group !== undefined && { group: readUuid(group) ?? group }),
    }
    return page.reply(await listUsersPage(ctx.tx, { ...query, ...links }, page))
  },
})

import { Type } from 'typebox'
import { createdRange, Search, SortBy } from '../http/list-query.ts'
import { operation } from '../http/operation.ts'
import { PageOf, pageQuery } from '../http/schema.ts'
import { Group } from './group.ts'
import { groupOrders, listGroupsPage } from './group-list-store.ts'

export const listGroups = operation({
  method: 'GET',
  path: '/v1/groups',
  summary: 'List groups',
  credential: 'any',
  scope: 'groups:read',
  query: Type.Object(
    {
      ...pageQuery,
      source: Type.Optional(
        Type.String({ description: '`local`, `scim` or `identity_provider`; no groups match another text' }),
      ),
      q: Search('the name'),
      ...createdRange,
      sort: SortBy(groupOrders, 'created_at'),
    },
    { additionalProperties: false },
  ),
  replies: { 200: PageOf(Group) },
  errors: [],
  run: async (ctx, { query, page }) => page.reply(await listGroupsPage(ctx.tx, query, page)),
})

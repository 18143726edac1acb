import { Type } from 'typebox'
import { SortBy, visibleUsers } from '../http/list-query.ts'
import { operation } from '../http/operation.ts'
import { PageOf, pageQuery } from '../http/schema.ts'
import { NamedGrant } from './grant.ts'
import { EndsBefore, grantFilters } from './grant-filters.ts'
import { grantOrders, listGrantsPage } from './grant-list-store.ts'

export const listGrants = operation({
  method: 'GET',
  path: '/v1/grants',
  summary: 'List grants, newest first: your own, or all grants with grants:read',
  credential: 'any',
  scope: null,
  query: Type.Object(
    {
      ...pageQuery,
      ...grantFilters,
      ends_before: EndsBefore(
        'active grants that end before this moment; those that end first come first, unless `sort` is given',
      ),
      sort: SortBy(grantOrders, '-created_at', '; with `expires_at`, the list has active grants alone'),
    },
    { additionalProperties: false },
  ),
  replies: { 200: PageOf(NamedGrant) },
  errors: [],
  async run(ctx, { query, page }) {
    const user_id = visibleUsers(ctx.actor, query.user_id, 'grants:read')
    if (user_id?.length === 0) return page.reply({ rows: [], next: undefined })
    return page.reply(await listGrantsPage(ctx.tx, { ...query, user_id }, page))
  },
})

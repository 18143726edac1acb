import { Type } from 'typebox'
import { createdRange, Search, SortBy } from '../http/list-query.ts'
import { operation } from '../http/operation.ts'
import { PageOf, pageQuery } from '../http/schema.ts'
import { Policy } from './policy.ts'
import { listPoliciesPage, policyOrders } from './policy-list-store.ts'

export const listPolicies = operation({
  method: 'GET',
  path: '/v1/policies',
  summary: 'List policies with their rules',
  credential: 'any',
  scope: 'policies:read',
  query: Type.Object(
    {
      ...pageQuery,
      q: Search('the name and the description'),
      ...createdRange,
      sort: SortBy(policyOrders, 'priority', '; with a range of time, `created_at` where absent'),
    },
    { additionalProperties: false },
  ),
  replies: { 200: PageOf(Policy) },
  errors: [],
  run: async (ctx, { query, page }) => page.reply(await listPoliciesPage(ctx.tx, query, page)),
})

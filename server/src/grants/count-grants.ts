import { Type } from 'typebox'
import { RecordCount, visibleUsers } from '../http/list-query.ts'
import { operation } from '../http/operation.ts'
import { grantFilters } from './grant-filters.ts'
import { countGrantsListed } from './grant-list-store.ts'

export const countGrants = operation({
  method: 'GET',
  path: '/v1/grants/count',
  summary: 'Count grants, up to 100: your own, or all grants with grants:read',
  credential: 'any',
  scope: null,
  query: Type.Object(grantFilters, { additionalProperties: false }),
  replies: { 200: RecordCount },
  errors: [],
  async run(ctx, { query }) {
    const user_id = visibleUsers(ctx.actor, query.user_id, 'grants:read')
    if (user_id?.length === 0) return { count: 0, is_complete: true }
    return countGrantsListed(ctx.tx, { ...query, user_id })
  },
})

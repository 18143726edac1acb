import { Type } from 'typebox'
import { RecordCount } from '../http/list-query.ts'
import { operation } from '../http/operation.ts'
import { countDecidable } from './inbox.flow.ts'
import { requestFilters, seenRequests } from './request-filters.ts'
import { countRequestsListed } from './request-list-store.ts'

export const countRequests = operation({
  method: 'GET',
  path: '/v1/requests/count',
  summary: 'Count requests, up to 100: your own, or all users’ with requests:read',
  credential: 'any',
  scope: null,
  query: Type.Object(requestFilters, { additionalProperties: false }),
  replies: { 200: RecordCount },
  errors: [],
  async run(ctx, { query }) {
    const seen = seenRequests(ctx.actor, query)
    if (seen === undefined) return { count: 0, is_complete: true }
    const { from, filters } = seen
    return from === 'inbox' ? countDecidable(ctx, filters) : countRequestsListed(ctx.tx, filters)
  },
})

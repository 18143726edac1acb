import { Type } from 'typebox'
import { SortBy } from '../http/list-query.ts'
import { operation } from '../http/operation.ts'
import { PageOf, pageQuery } from '../http/schema.ts'
import { listDecidable } from './inbox.flow.ts'
import { NamedAccessRequest } from './request.ts'
import { DecidableBy, requestFilters, seenRequests } from './request-filters.ts'
import { listRequestsPage } from './request-list-store.ts'

export const listRequests = operation({
  method: 'GET',
  path: '/v1/requests',
  summary: 'List requests, newest first: your own, or all users’ with requests:read',
  credential: 'any',
  scope: null,
  query: Type.Object(
    {
      ...pageQuery,
      ...requestFilters,
      decidable_by: DecidableBy(
        '`me`: pending requests that you may decide now, those with a high risk first, then the oldest; a page may be short, ' +
          'or empty, though more follow. Without `status`, `decided_by`, `q` and `sort`',
      ),
      sort: SortBy(['created_at', '-created_at'], '-created_at'),
    },
    { additionalProperties: false },
  ),
  replies: { 200: PageOf(NamedAccessRequest) },
  errors: [],
  async run(ctx, { query, page }) {
    const seen = seenRequests(ctx.actor, query)
    if (seen === undefined) return page.reply({ rows: [], next: undefined })
    const { from, filters } = seen
    return page.reply(
      from === 'inbox' ? await listDecidable(ctx, filters, page) : await listRequestsPage(ctx.tx, filters, page),
    )
  },
})

import { Type } from 'typebox'
import { operation } from '../http/operation.ts'
import { OneOf, PageOf, pageQuery, Uuid } from '../http/schema.ts'
import { askedTypes } from '../policy-engine/cedar/schema.ts'
import { AccessRequest, requestStatuses } from './request.ts'
import { listRequestsPage } from './request-store.ts'

export const listRequests = operation({
  method: 'GET',
  path: '/v1/requests',
  summary: 'List requests, newest first: your own, or all users’ with requests:read',
  credential: 'any',
  scope: null,
  query: Type.Object(
    {
      ...pageQuery,
      status: Type.Optional(OneOf(requestStatuses)),
      requester_id: Type.Optional(Uuid),
      resource_type: Type.Optional(OneOf(askedTypes)),
      resource_id: Type.Optional(Type.String({ maxLength: 2_048 })),
    },
    { additionalProperties: false },
  ),
  replies: { 200: PageOf(AccessRequest) },
  errors: [],
  async run(ctx, { query, page }) {
    const { user_id, scopes } = ctx.actor
    const own = scopes.has('requests:read') ? query.requester_id : (user_id ?? undefined)
    const others = query.requester_id !== undefined && query.requester_id !== own
    const rows = others ? [] : await listRequestsPage(ctx.tx, { ...query, requester_id: own }, page)
    return page.of(rows, (request) => [request.id])
  },
})

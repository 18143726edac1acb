import { Type } from 'typebox'
import { GrantView } from '../grants/grant.ts'
import { recordTag } from '../http/if-match.ts'
import { operation } from '../http/operation.ts'
import { IdParams, OneOf, Uuid } from '../http/schema.ts'
import { notFound } from '../kernel/errors.ts'
import { maySee, requestStatuses } from './request.ts'
import { findRequestStatus } from './request-status-store.ts'

const AccessRequestStatus = Type.Object(
  { id: Uuid, status: OneOf(requestStatuses), grants: Type.Array(GrantView) },
  { title: 'AccessRequestStatusView' },
)

export const getAccessRequestStatus = operation({
  method: 'GET',
  path: '/v1/access/requests/{id}',
  summary: 'The status of a request, with its grants: your own, or any user’s with requests:read',
  credential: 'any',
  scope: null,
  params: IdParams,
  replies: { 200: AccessRequestStatus },
  errors: ['not_found'],
  etag: recordTag,
  async run(ctx, { params }) {
    const found = await findRequestStatus(ctx.tx, params.id)
    if (found === undefined || !maySee(ctx.actor, found)) throw notFound('request')
    return { id: found.id, status: found.status, grants: found.grants }
  },
})

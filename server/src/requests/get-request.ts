import { operation } from '../http/operation.ts'
import { IdParams } from '../http/schema.ts'
import type { Ctx } from '../kernel/context.ts'
import { notFound } from '../kernel/errors.ts'
import { findForApprover, ownRequest } from './inbox.flow.ts'
import { AccessRequestDetail, maySee, needsApproveScope, requestTag } from './request.ts'
import { findNamedRequest } from './request-list-store.ts'

export const getRequest = operation({
  method: 'GET',
  path: '/v1/requests/{id}',
  summary: 'Get a request, and whether you may decide it: your own, or any user’s with requests:read',
  credential: 'any',
  scope: null,
  params: IdParams,
  replies: { 200: AccessRequestDetail },
  errors: ['not_found'],
  etag: requestTag,
  async run(ctx, { params }) {
    const request = await findDetail(ctx, params.id)
    if (request === undefined || !maySee(ctx.actor, request)) throw notFound('request')
    return request
  },
})

async function findDetail(ctx: Ctx, id: string): Promise<AccessRequestDetail | undefined> {
  const { user_id, scopes } = ctx.actor
  const mayRead = scopes.has('requests:read')
  if (user_id !== null && mayRead && scopes.has('requests:approve')) return findForApprover(ctx, user_id, id)
  const request = await findNamedRequest(ctx.tx, id)
  const why_not = request?.requester_id === user_id ? ownRequest : needsApproveScope
  return request && { ...request, may_decide: false, why_not }
}

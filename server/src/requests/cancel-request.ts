import { operation } from '../http/operation.ts'
import { Body, IdParams } from '../http/schema.ts'
import { notFound, Problem } from '../kernel/errors.ts'
import { findRequest } from './request-store.ts'
import { cancelPendingRequest } from './transition-store.ts'

export const cancelRequest = operation({
  method: 'DELETE',
  path: '/v1/requests/{id}',
  summary: 'Cancel a pending request: your own, or any user’s with requests:cancel',
  credential: 'any',
  scope: null,
  params: IdParams,
  body: Body({}),
  replies: { 204: null },
  errors: ['forbidden', 'request_not_cancellable'],
  async run(ctx, { params }) {
    const request = await findRequest(ctx.tx, params.id)
    if (request === undefined) throw notFound('request')
    if (request.requester_id !== ctx.actor.user_id && !ctx.actor.scopes.has('requests:cancel')) {
      throw new Problem('forbidden', 'cancelling another user’s request needs the scope `requests:cancel`')
    }
    const now = await cancelPendingRequest(ctx, request.id)
    if (now === undefined) return undefined
    throw new Problem('request_not_cancellable', `the request is not in a cancellable state: it is ${now.status}`, {
      details: { status: now.status, ...(now.decided_by !== null && { decided_by: now.decided_by }) },
    })
  },
})

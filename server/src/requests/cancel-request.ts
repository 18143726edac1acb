import { type IfMatch, readIfMatch, requireMatch } from '../http/if-match.ts'
import { operation } from '../http/operation.ts'
import { Body, IdParams } from '../http/schema.ts'
import type { Ctx } from '../kernel/context.ts'
import { notFound, Problem } from '../kernel/errors.ts'
import { maySee, requestTag } from './request.ts'
import { findNamedRequest } from './request-list-store.ts'
import { findRequest } from './request-store.ts'
import { cancelPendingRequest, lockRequest } from './transition-store.ts'

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
  takesIfMatch: true,
  async run(ctx, { params, header }) {
    const tags = readIfMatch(header('if-match'))
    const request = await findRequest(ctx.tx, params.id)
    if (request === undefined) throw notFound('request')
    if (request.requester_id !== ctx.actor.user_id && !ctx.actor.scopes.has('requests:cancel')) {
      throw new Problem('forbidden', 'cancelling another user’s request needs the scope `requests:cancel`')
    }
    // A tag shows whether a guess of what the request contains is right.
    if (tags !== undefined && !maySee(ctx.actor, request)) {
      throw new Problem('forbidden', '`If-Match` of another user’s request needs the scope `requests:read`')
    }
    const now = await (tags === undefined
      ? cancelPendingRequest(ctx, request.id)
      : cancelIfMatch(ctx, request.id, tags))
    if (now === undefined) return undefined
    throw new Problem('request_not_cancellable', `the request is not in a cancellable state: it is ${now.status}`, {
      details: { status: now.status, ...(now.decided_by !== null && { decided_by: now.decided_by }) },
    })
  },
})

/** @throws Problem 412 when the request is not as these tags say */
function cancelIfMatch(ctx: Ctx, id: string, tags: IfMatch) {
  return ctx.tx.interactive(async (tx) => {
    await lockRequest(tx, id)
    const request = await findNamedRequest(tx, id)
    requireMatch(tags, request && requestTag(request))
    return cancelPendingRequest({ ...ctx, tx }, id)
  })
}

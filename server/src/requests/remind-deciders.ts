import { operation } from '../http/operation.ts'
import { Body, IdParams } from '../http/schema.ts'
import { rateLimited } from '../kernel/bucket.ts'
import { notFound, Problem } from '../kernel/errors.ts'
import { sendReminder } from './reminder-store.ts'
import { maySee, notPending, Reminded, remindLimit } from './request.ts'
import { findRequest } from './request-store.ts'

/** The limit is per request, so it holds across the requester's sessions and keys, and across processes. */
export const remindDeciders = operation({
  method: 'POST',
  path: '/v1/requests/{id}/remind',
  summary: 'Remind those who may decide your pending request, once in 10 minutes',
  credential: 'any',
  scope: null,
  params: IdParams,
  body: Body({}),
  replies: { 200: Reminded },
  errors: ['forbidden', 'not_found', 'request_not_pending', 'rate_limited'],
  async run(ctx, { params }) {
    const request = await findRequest(ctx.tx, params.id)
    if (request === undefined || !maySee(ctx.actor, request)) throw notFound('request')
    if (request.requester_id !== ctx.actor.user_id) {
      throw new Problem('forbidden', 'only the requester of a request reminds those who may decide it')
    }
    const outcome = await sendReminder(ctx, request.id)
    if ('sent' in outcome) return outcome.sent
    if ('not_pending' in outcome) throw notPending(outcome.not_pending)
    throw rateLimited(
      remindLimit,
      outcome.too_early,
      'your last reminder about this request was less than 10 minutes ago',
    )
  },
})

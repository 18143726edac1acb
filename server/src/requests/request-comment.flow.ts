import type { Ctx } from '../kernel/context.ts'
import { notFound } from '../kernel/errors.ts'
import { findMayDecide } from './inbox.flow.ts'
import { findWait } from './inbox-store.ts'
import { maySee, needsApproveScope, notPending } from './request.ts'
import { mayNotComment, type RequestComment, tooManyComments } from './request-comment.ts'
import { saveComment } from './request-comment-store.ts'

/**
 * Adds a comment of the requester, or of a user who may decide the request now. Throws 404 where the caller may not see the request;
 * 403 for others who may; 409 where it does not wait any more; 422 where it has all its comments.
 */
export async function commentOnRequest(ctx: Ctx, request_id: string, text: string): Promise<RequestComment> {
  const { user_id } = ctx.actor
  if (user_id === null) throw mayNotComment('you are no user')
  await requireMayComment(ctx, user_id, request_id)
  const outcome = await saveComment(ctx, { request_id, author_id: user_id, text })
  if ('saved' in outcome) return outcome.saved
  if (outcome.refused === 'not_pending') throw notPending(outcome.now)
  if (outcome.refused === 'is_full') throw tooManyComments()
  throw mayNotComment('you were suspended, deactivated or demoted just now')
}

async function requireMayComment(ctx: Ctx, user_id: string, request_id: string): Promise<void> {
  const { scopes } = ctx.actor
  if (!scopes.has('requests:read') || !scopes.has('requests:approve')) {
    const request = await findWait(ctx.tx, request_id)
    if (request === undefined || !maySee(ctx.actor, request)) throw notFound('request')
    if (request.requester_id !== user_id) throw mayNotComment(needsApproveScope)
    return
  }
  const found = await findMayDecide(ctx, user_id, request_id)
  if (found === undefined) throw notFound('request')
  const { named, waits, why_not } = found
  if (named.requester_id === user_id) return
  if (!waits) throw notPending(named)
  if (why_not !== null) throw mayNotComment(why_not)
}

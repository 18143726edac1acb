import { operation } from '../http/operation.ts'
import { IdParams } from '../http/schema.ts'
import { commentOnRequest } from './request-comment.flow.ts'
import { CommentInput, RequestComment, requireSeenText } from './request-comment.ts'

/** Approvers ask back, and requesters answer, without a decision. */
export const createRequestComment = operation({
  method: 'POST',
  path: '/v1/requests/{id}/comments',
  summary: 'Comment on a pending request: your own, or one that you may decide now; at most 100 comments',
  credential: 'any',
  scope: null,
  params: IdParams,
  body: CommentInput,
  replies: { 201: RequestComment },
  errors: ['forbidden', 'not_found', 'request_not_pending', 'unprocessable'],
  async run(ctx, { params, body }) {
    requireSeenText(body.text)
    return commentOnRequest(ctx, params.id, body.text)
  },
})

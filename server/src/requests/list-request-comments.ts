import { Type } from 'typebox'
import { operation } from '../http/operation.ts'
import { IdParams, PageOf, pageQuery } from '../http/schema.ts'
import { notFound } from '../kernel/errors.ts'
import { maySee } from './request.ts'
import { RequestComment } from './request-comment.ts'
import { listCommentsPage } from './request-comment-store.ts'

export const listRequestComments = operation({
  method: 'GET',
  path: '/v1/requests/{id}/comments',
  summary: 'List the comments on a request, oldest first: on your own, or on any request with requests:read',
  credential: 'any',
  scope: null,
  params: IdParams,
  query: Type.Object(pageQuery, { additionalProperties: false }),
  replies: { 200: PageOf(RequestComment) },
  errors: ['not_found'],
  async run(ctx, { params, page }) {
    const found = await listCommentsPage(ctx.tx, params.id, page)
    if (found === undefined || !maySee(ctx.actor, found)) throw notFound('request')
    return page.reply(found)
  },
})

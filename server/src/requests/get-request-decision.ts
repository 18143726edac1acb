import { Type } from 'typebox'
import { operation } from '../http/operation.ts'
import { IdParams, PageOf, pageQuery } from '../http/schema.ts'
import { notFound } from '../kernel/errors.ts'
import { decisionFor, RequestDecision } from './decision.ts'
import { listDecisionsPage } from './decision-store.ts'
import { maySee } from './request.ts'
import { findRequest } from './request-store.ts'

export const getRequestDecision = operation({
  method: 'GET',
  path: '/v1/requests/{id}/decision',
  summary: 'List the policy questions about a request and their decisions, oldest first',
  credential: 'any',
  scope: null,
  params: IdParams,
  query: Type.Object(pageQuery, { additionalProperties: false }),
  replies: { 200: PageOf(RequestDecision) },
  errors: ['not_found'],
  async run(ctx, { params, page }) {
    const request = await findRequest(ctx.tx, params.id)
    if (request === undefined || !maySee(ctx.actor, request)) throw notFound('request')
    const decisions = await listDecisionsPage(ctx.tx, request.id, page)
    return page.of(
      decisions.map((decision) => decisionFor(ctx.actor, decision)),
      (decision) => [decision.id],
    )
  },
})

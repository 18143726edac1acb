import { operation } from '../http/operation.ts'
import { IdParams } from '../http/schema.ts'
import { notFound } from '../kernel/errors.ts'
import { maySee, NamedAccessRequest } from './request.ts'
import { findNamedRequest } from './request-list-store.ts'

export const getRequest = operation({
  method: 'GET',
  path: '/v1/requests/{id}',
  summary: 'Get a request: your own, or any user’s with requests:read',
  credential: 'any',
  scope: null,
  params: IdParams,
  replies: { 200: NamedAccessRequest },
  errors: ['not_found'],
  async run(ctx, { params }) {
    const request = await findNamedRequest(ctx.tx, params.id)
    if (request === undefined || !maySee(ctx.actor, request)) throw notFound('request')
    return request
  },
})

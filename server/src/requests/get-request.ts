import { operation } from '../http/operation.ts'
import { IdParams } from '../http/schema.ts'
import { notFound } from '../kernel/errors.ts'
import { AccessRequest, maySee } from './request.ts'
import { findRequest } from './request-store.ts'

export const getRequest = operation({
  method: 'GET',
  path: '/v1/requests/{id}',
  summary: 'Get a request: your own, or any user’s with requests:read',
  credential: 'any',
  scope: null,
  params: IdParams,
  replies: { 200: AccessRequest },
  errors: ['not_found'],
  async run(ctx, { params }) {
    const request = await findRequest(ctx.tx, params.id)
    if (request === undefined || !maySee(ctx.actor, request)) throw notFound('request')
    return request
  },
})

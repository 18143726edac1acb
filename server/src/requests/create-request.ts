import { operation } from '../http/operation.ts'
import { evaluateRequest } from './evaluate-request.flow.ts'
import { makeRequest } from './make-request.flow.ts'
import { CreatedRequest, requestTag } from './request.ts'
import { RequestInput } from './request-input.ts'

export const createRequest = operation({
  method: 'POST',
  path: '/v1/requests',
  summary:
    'Request access; policy answers at once: refused, pending, or approved; 100 requests of a user may be pending',
  credential: 'any',
  scope: 'requests:create',
  body: RequestInput,
  replies: { 201: CreatedRequest },
  location: ({ id }) => `/v1/requests/${id}`,
  etag: requestTag,
  errors: ['policy_denied', 'unprocessable', 'version_conflict'],
  run: (ctx, { body }) => makeRequest(ctx, () => evaluateRequest(ctx, body)),
})

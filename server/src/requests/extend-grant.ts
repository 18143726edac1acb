import { operation } from '../http/operation.ts'
import { IdParams } from '../http/schema.ts'
import { evaluateExtension } from './evaluate-extension.flow.ts'
import { makeRequest } from './make-request.flow.ts'
import { CreatedRequest, requestTag } from './request.ts'
import { ExtensionInput } from './request-input.ts'

/** An extension is a request: policy answers it, and a person may have to decide it. */
export const extendGrant = operation({
  method: 'POST',
  path: '/v1/grants/{id}/extend',
  summary: 'Request that your active access lasts longer, once half of its time is used',
  credential: 'any',
  scope: 'requests:create',
  params: IdParams,
  body: ExtensionInput,
  replies: { 201: CreatedRequest },
  etag: requestTag,
  location: ({ id }) => `/v1/requests/${id}`,
  errors: [
    'policy_denied',
    'not_found',
    'grant_not_live',
    'already_extended',
    'too_early_to_extend',
    'unprocessable',
    'version_conflict',
  ],
  run: (ctx, { params, body }) => makeRequest(ctx, () => evaluateExtension(ctx, params.id, body)),
})

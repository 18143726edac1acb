import { Type } from 'typebox'
import { operation } from '../http/operation.ts'
import { Body, IdParams } from '../http/schema.ts'
import { AccessRequest, Reasoning } from './request.ts'
import { decideRequest } from './request-approval.flow.ts'

export const denyRequest = operation({
  method: 'POST',
  path: '/v1/requests/{id}/deny',
  summary: 'Deny a pending request; every user who may approve it may deny it',
  credential: 'any',
  scope: 'requests:approve',
  params: IdParams,
  body: Body({ reasoning: Type.Optional(Reasoning) }),
  replies: { 200: AccessRequest },
  errors: ['policy_denied', 'request_not_pending'],
  run: (ctx, { params, body }) => decideRequest(ctx, params.id, { ...body, status: 'denied' }),
})

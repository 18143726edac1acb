import { Type } from 'typebox'
import { operation } from '../http/operation.ts'
import { Body, IdParams, Nullable } from '../http/schema.ts'
import { AccessRequest, Reasoning } from './request.ts'
import { decideRequest } from './request-approval.flow.ts'
import { DurationSeconds } from './request-input.ts'

export const approveRequest = operation({
  method: 'POST',
  path: '/v1/requests/{id}/approve',
  summary: 'Approve a pending request, for the requested time or less; never your own',
  credential: 'any',
  scope: 'requests:approve',
  params: IdParams,
  body: Body({
    reasoning: Type.Optional(Reasoning),
    duration_seconds: Type.Optional(
      Nullable({ ...DurationSeconds, description: 'gives less time than was requested' }),
    ),
  }),
  replies: { 200: AccessRequest },
  errors: ['policy_denied', 'request_not_pending'],
  run: (ctx, { params, body }) => decideRequest(ctx, params.id, { ...body, status: 'approved' }),
})

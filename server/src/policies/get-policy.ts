import { operation } from '../http/operation.ts'
import { IdParams } from '../http/schema.ts'
import { notFound } from '../kernel/errors.ts'
import { Policy, policyTag } from './policy.ts'
import { findPolicy } from './policy-store.ts'

export const getPolicy = operation({
  method: 'GET',
  path: '/v1/policies/{id}',
  summary: 'Get a policy with its rules',
  credential: 'any',
  scope: 'policies:read',
  params: IdParams,
  replies: { 200: Policy },
  errors: ['not_found'],
  etag: policyTag,
  async run(ctx, { params }) {
    const policy = await findPolicy(ctx.tx, params.id)
    if (policy === undefined) throw notFound('policy')
    return policy
  },
})

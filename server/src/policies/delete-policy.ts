import { operation } from '../http/operation.ts'
import { IdParams } from '../http/schema.ts'
import { notFound } from '../kernel/errors.ts'
import { deletePolicyById } from './policy-store.ts'

export const deletePolicy = operation({
  method: 'DELETE',
  path: '/v1/policies/{id}',
  summary: 'Delete a policy with its rules',
  credential: 'any',
  scope: 'policies:write',
  params: IdParams,
  replies: { 204: null },
  errors: ['case_broken', 'not_found'],
  async run(ctx, { params }): Promise<undefined> {
    if (!(await deletePolicyById(ctx, params.id))) throw notFound('policy')
  },
})

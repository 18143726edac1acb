import { operation } from '../http/operation.ts'
import { IdParams } from '../http/schema.ts'
import { notFound } from '../kernel/errors.ts'
import { changeRulesAtOnce } from './cases/change-rules.flow.ts'
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
    const deleted = await changeRulesAtOnce(ctx, deletePolicyById(ctx, params.id))
    if (deleted.length === 0) throw notFound('policy')
  },
})

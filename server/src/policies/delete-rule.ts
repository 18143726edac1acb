import { operation } from '../http/operation.ts'
import { notFound } from '../kernel/errors.ts'
import { RuleParams } from './policy.ts'
import { deleteRuleAt } from './rule-store.ts'

export const deleteRule = operation({
  method: 'DELETE',
  path: '/v1/policies/{id}/rules/{rule_id}',
  summary: 'Delete a rule of a policy',
  credential: 'any',
  scope: 'policies:write',
  params: RuleParams,
  replies: { 204: null },
  errors: ['case_broken', 'not_found'],
  async run(ctx, { params }): Promise<undefined> {
    if (!(await deleteRuleAt(ctx, { policy_id: params.id, rule_id: params.rule_id }))) throw notFound('rule')
  },
})

import { operation } from '../http/operation.ts'
import { notFound } from '../kernel/errors.ts'
import { changeRulesAtOnce } from './cases/change-rules.flow.ts'
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
    const at = { policy_id: params.id, rule_id: params.rule_id }
    const deleted = await changeRulesAtOnce(ctx, deleteRuleAt(ctx, at))
    if (deleted.length === 0) throw notFound('rule')
  },
})

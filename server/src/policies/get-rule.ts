import { operation } from '../http/operation.ts'
import { notFound } from '../kernel/errors.ts'
import { Rule } from '../policy-engine/rule.ts'
import { RuleParams, ruleTag } from './policy.ts'
import { findRule } from './rule-store.ts'

export const getRule = operation({
  method: 'GET',
  path: '/v1/policies/{id}/rules/{rule_id}',
  summary: 'Get a rule of a policy',
  credential: 'any',
  scope: 'policies:read',
  params: RuleParams,
  replies: { 200: Rule },
  errors: ['not_found'],
  etag: ruleTag,
  async run(ctx, { params }) {
    const rule = await findRule(ctx.tx, { policy_id: params.id, rule_id: params.rule_id })
    if (rule === undefined) throw notFound('rule')
    return rule
  },
})

import { operation } from '../http/operation.ts'
import { IdParams } from '../http/schema.ts'
import { notFound, Problem } from '../kernel/errors.ts'
import { statementFromInput, statementModule } from '../policy-engine/cedar/statement.ts'
import { Rule, RuleInput } from '../policy-engine/rule.ts'
import { changeRulesAtOnce } from './cases/change-rules.flow.ts'
import { withoutIgnored } from './ignored-fields.ts'
import { maxRules, ruleTag } from './policy.ts'
import { insertRule } from './rule-store.ts'
import { withWarnings } from './rule-warnings.flow.ts'
import { workOnText } from './text-work.ts'

/** Adds a rule to a policy: one statement, from text or from the structured fields. */
export const createRule = operation({
  method: 'POST',
  path: '/v1/policies/{id}/rules',
  summary: 'Create a rule in a policy',
  credential: 'any',
  scope: 'policies:write',
  params: IdParams,
  body: RuleInput,
  withoutIgnored,
  replies: { 201: Rule },
  location: ({ id, policy_id }) => `/v1/policies/${policy_id}/rules/${id}`,
  errors: ['case_broken', 'invalid_policy', 'not_found', 'unprocessable'],
  etag: ruleTag,
  async run(ctx, { params, body }) {
    const statement = await workOnText(ctx.tx.tenant_id, body, statementModule, statementFromInput, [body])
    const change = insertRule(ctx, { policy_id: params.id, statement, ordinal: body.ordinal })
    const [inserted] = await changeRulesAtOnce(ctx, change, statement.literals.length > 0)
    if (!inserted?.has_policy) throw notFound('policy')
    if (inserted.rule === null) {
      throw new Problem('unprocessable', `the tenant has the maximum of ${maxRules} rules; delete one first`)
    }
    return withWarnings(ctx, inserted.rule, statement)
  },
})

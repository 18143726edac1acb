import { operation } from '../http/operation.ts'
import { IdParams } from '../http/schema.ts'
import { notFound, Problem } from '../kernel/errors.ts'
import { statementFromInput } from './cedar/statement.ts'
import { mostRules } from './policy.ts'
import { Rule, RuleInput } from './rule.ts'
import { insertRule } from './rule-store.ts'
import { withWarnings } from './rule-warnings.ts'

/** Adds a rule to a policy: one statement, from text or from the structured fields. */
export const createRule = operation({
  method: 'POST',
  path: '/v1/policies/{id}/rules',
  summary: 'Create a rule in a policy',
  credential: 'any',
  scope: 'policies:write',
  params: IdParams,
  body: RuleInput,
  replies: { 201: Rule },
  errors: ['case_broken', 'invalid_policy', 'not_found', 'unprocessable'],
  async run(ctx, { params, body }) {
    const statement = statementFromInput(body)
    const rule = await insertRule(ctx, { policy_id: params.id, statement, ordinal: body.ordinal })
    if (rule === 'no_policy') throw notFound('policy')
    if (rule === 'full') {
      throw new Problem('unprocessable', `the tenant has all the ${mostRules} rules it may have; delete one first`)
    }
    return withWarnings(ctx.tx, rule, statement.warnings)
  },
})

import { isDeepStrictEqual } from 'node:util'
import { operation } from '../http/operation.ts'
import { notFound } from '../kernel/errors.ts'
import { parseConditions } from './cedar/parse.ts'
import { changeStatement, type Statement, type StatementFields, statementFromInput } from './cedar/statement.ts'
import { RuleParams } from './policy.ts'
import { Rule, RuleInput } from './rule.ts'
import { lockRule, type RuleChange, saveRule } from './rule-store.ts'
import { withWarnings } from './rule-warnings.ts'

/** Changes the fields sent. What would change nothing changes nothing, tells nothing, and answers the rule as it is. */
export const updateRule = operation({
  method: 'PATCH',
  path: '/v1/policies/{id}/rules/{rule_id}',
  summary: 'Update a rule of a policy',
  credential: 'any',
  scope: 'policies:write',
  params: RuleParams,
  body: RuleInput,
  replies: { 200: Rule },
  errors: ['invalid_policy', 'not_found'],
  async run(ctx, { params, body }) {
    requireReadable(body)
    const at = { policy_id: params.id, rule_id: params.rule_id }
    const { rule, change } = await ctx.tx.interactive(async (tx) => {
      const before = await lockRule(tx, at)
      if (before === undefined) throw notFound('rule')
      const found = changeOf(before, body)
      return { change: found, rule: found === undefined ? before : await saveRule({ ...ctx, tx }, at, found) }
    })
    return withWarnings(ctx.tx, rule, change?.statement?.warnings ?? [])
  },
})

/** What can be said of the texts alone, before it is known whether there is such a rule. */
function requireReadable(change: RuleInput): void {
  if (change.policy_text !== undefined) statementFromInput(change)
  else if (change.conditions?.trim()) parseConditions(change.conditions)
}

/** What the change makes of the rule; undefined for nothing. */
function changeOf(before: Rule, { ordinal = before.ordinal, ...words }: RuleInput): RuleChange | undefined {
  const statement = statementAfter(statementFieldsOf(before), words)
  return statement === undefined && ordinal === before.ordinal ? undefined : { ordinal, statement }
}

/** Undefined where the statement stays as it is; its text too is left as its author wrote it. */
function statementAfter(before: StatementFields, words: RuleInput): Statement | undefined {
  if (isDeepStrictEqual({ ...before, ...words }, before)) return undefined
  const after = changeStatement(before, words)
  return isDeepStrictEqual(after.fields, before) ? undefined : after
}

function statementFieldsOf(rule: Rule): StatementFields {
  const { id, policy_id, ordinal, created_at, updated_at, warnings, ...fields } = rule
  return fields
}

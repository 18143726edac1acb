import { readIfMatch, requireMatch } from '../http/if-match.ts'
import { operation } from '../http/operation.ts'
import { changeIn, SentBack } from '../http/sent-back.ts'
import { notFound } from '../kernel/errors.ts'
import { parseConditions } from '../policy-engine/cedar/parse.ts'
import { statementFromInput } from '../policy-engine/cedar/statement.ts'
import { Rule, RuleInput } from '../policy-engine/rule.ts'
import { changeRules } from './cases/change-rules.flow.ts'
import { withoutIgnored } from './ignored-fields.ts'
import { RuleParams, ruleTag } from './policy.ts'
import { changeRule } from './rule-change.ts'
import { ruleAt, saveRule } from './rule-store.ts'
import { withWarnings } from './rule-warnings.flow.ts'

/** Changes the fields sent. Where no value is new, it changes nothing, emits no event, and returns the rule. */
export const updateRule = operation({
  method: 'PATCH',
  path: '/v1/policies/{id}/rules/{rule_id}',
  summary: 'Update a rule of a policy',
  credential: 'any',
  scope: 'policies:write',
  params: RuleParams,
  body: SentBack(RuleInput, Rule),
  withoutIgnored,
  replies: { 200: Rule },
  errors: ['case_broken', 'invalid_policy', 'not_found'],
  etag: ruleTag,
  takesIfMatch: true,
  async run(ctx, { params, body, header }) {
    const tags = readIfMatch(header('if-match'))
    requireReadable(body)
    const at = { policy_id: params.id, rule_id: params.rule_id }
    const { rule, change } = await changeRules(ctx, ruleAt(ctx.tx, at), async (inside, [before]) => {
      if (before === undefined) throw notFound('rule')
      requireMatch(tags, ruleTag(before.rule))
      const found = changeRule(before.rule, changeIn(RuleInput, body, before.rule))
      return { change: found, rule: found === undefined ? before.rule : await saveRule(inside, at, found) }
    })
    return withWarnings(ctx.tx, rule, change?.statement?.warnings ?? [])
  },
})

/** Checks the texts alone, before it is known whether the rule exists. */
function requireReadable(change: RuleInput): void {
  if (change.policy_text !== undefined) statementFromInput(change)
  else if (change.conditions?.trim()) parseConditions(change.conditions)
}

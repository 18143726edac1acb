import { readIfMatch, requireMatch } from '../http/if-match.ts'
import { operation } from '../http/operation.ts'
import { notFound } from '../kernel/errors.ts'
import { always } from './cases/case-store.ts'
import { changeRules, changeRulesAtOnce } from './cases/change-rules.flow.ts'
import { RuleParams, ruleTag } from './policy.ts'
import { deleteRuleAt, ruleAt } from './rule-store.ts'

export const deleteRule = operation({
  method: 'DELETE',
  path: '/v1/policies/{id}/rules/{rule_id}',
  summary: 'Delete a rule of a policy',
  credential: 'any',
  scope: 'policies:write',
  params: RuleParams,
  replies: { 204: null },
  errors: ['case_broken', 'not_found'],
  takesIfMatch: true,
  async run(ctx, { params, header }): Promise<undefined> {
    const tags = readIfMatch(header('if-match'))
    const at = { policy_id: params.id, rule_id: params.rule_id }
    if (tags === undefined) {
      const deleted = await changeRulesAtOnce(ctx, deleteRuleAt(ctx, at))
      if (deleted.length === 0) throw notFound('rule')
      return
    }
    await changeRules(ctx, ruleAt(ctx.tx, at), async (inside, [before]) => {
      if (before === undefined) throw notFound('rule')
      requireMatch(tags, ruleTag(before.rule))
      await inside.tx.write([deleteRuleAt(inside, at)(always)])
    })
  },
})

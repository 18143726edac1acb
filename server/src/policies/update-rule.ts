import { isDeepStrictEqual } from 'node:util'
import { readIfMatch, requireMatch } from '../http/if-match.ts'
import { operation } from '../http/operation.ts'
import { changeIn, SentBack } from '../http/sent-back.ts'
import type { Ctx } from '../kernel/context.ts'
import { notFound, Problem } from '../kernel/errors.ts'
import { Rule, RuleInput } from '../policy-engine/rule.ts'
import { changeRules } from './cases/change-rules.flow.ts'
import { withoutIgnored } from './ignored-fields.ts'
import { RuleParams, ruleTag } from './policy.ts'
import { changeRule, requireReadable, ruleChangeModule } from './rule-change.ts'
import { findRule, ruleAt, saveRule } from './rule-store.ts'
import { withWarnings } from './rule-warnings.flow.ts'
import { workOnText } from './text-work.ts'

/** How often a change is attempted. An attempt fails if the rule changed while its new statement was read. */
const maxAttempts = 5

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
  errors: ['case_broken', 'invalid_policy', 'not_found', 'version_conflict'],
  etag: ruleTag,
  takesIfMatch: true,
  async run(ctx, { params, body, header }) {
    const tags = readIfMatch(header('if-match'))
    const at = { policy_id: params.id, rule_id: params.rule_id }
    for (let attempt = 0; attempt < maxAttempts; attempt += 1) {
      const before = await findRule(ctx.tx, at)
      // The texts are checked even so, as with every body.
      if (before === undefined) {
        await workOnText(ctx.tx.tenant_id, body, ruleChangeModule, requireReadable, [body])
        throw notFound('rule')
      }
      const texts: Parameters<typeof changeRule> = [before, changeIn(RuleInput, body, before)]
      const change = await workOnText(ctx.tx.tenant_id, texts, ruleChangeModule, changeRule, texts)
      const save = async (inside: Ctx, [now]: { rule: Rule }[]) => {
        if (now === undefined) throw notFound('rule')
        requireMatch(tags, ruleTag(now.rule))
        if (!isDeepStrictEqual(now.rule, before)) return undefined
        return change === undefined ? now.rule : saveRule(inside, at, change)
      }
      const statement = change?.statement
      const saved = await changeRules(ctx, ruleAt(ctx.tx, at), save, () => (statement?.literals.length ?? 0) > 0)
      if (saved !== undefined) return withWarnings(ctx, saved, statement)
    }
    throw new Problem('version_conflict', 'the rule is changing just now; send the change again')
  },
})

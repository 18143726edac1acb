import { Type } from 'typebox'
import { operation } from '../http/operation.ts'
import { Body } from '../http/schema.ts'
import { beside } from '../kernel/beside.ts'
import type { Ctx } from '../kernel/context.ts'
import { newId } from '../kernel/id.ts'
import { type PolicyCase, PolicyCases, requireSoundCases } from '../policies/cases/case.ts'
import { listCases } from '../policies/cases/case-store.ts'
import { CaseOutcomes, counted, tryCases } from '../policies/cases/outcome.ts'
import { Draft, maxDraftBodyBytes, withoutIgnoredInDraft } from '../policies/drafts/draft.ts'
import { readPresent } from '../policies/drafts/draft-store.ts'
import { draftEvaluator } from '../policy-engine/deciding/evaluate.ts'
import { findRuleSet, readRuleSetVersion } from '../policy-engine/deciding/rule-set-store.ts'
import { findPolicyFacts, withLiteralFacts } from '../policy-facts/policy-facts.flow.ts'
import { draftTrialModule, tryDraft } from './try-draft.ts'

/** Changes neither rules nor cases. */
export const testPolicies = operation({
  method: 'POST',
  path: '/v1/policies/test',
  summary: 'Evaluate policy cases on the rules, or on a draft of them; stores nothing',
  credential: 'any',
  scope: 'policies:read',
  body: Body({ cases: Type.Optional(PolicyCases), draft: Type.Optional(Draft) }),
  withoutIgnored: withoutIgnoredInDraft,
  bodyLimit: maxDraftBodyBytes,
  replies: { 200: CaseOutcomes },
  errors: ['invalid_policy', 'unprocessable'],
  async run(ctx, { body }) {
    if (body.cases !== undefined) requireSoundCases(body.cases)
    const cases = body.cases ?? (await listCases(ctx.tx))
    return counted(ctx.actor.scopes, await outcomesOf(ctx, cases, body.draft))
  },
})

async function outcomesOf({ tx, actor }: Ctx, cases: readonly PolicyCase[], draft: Draft | undefined) {
  if (draft === undefined) {
    const ruleSet = await findRuleSet(tx, await readRuleSetVersion(tx))
    const { literals } = await findPolicyFacts(tx, [ruleSet])
    return tryCases(draftEvaluator, ruleSet, cases, literals)
  }
  const of = { id: newId(), author: actor.user_id, pointer: '/draft' }
  const present = await readPresent(tx, draft)
  return withLiteralFacts({ tx, actor }, (literals) =>
    beside.run(tx.tenant_id, draftTrialModule, tryDraft, [present, draft, of, cases, literals]),
  )
}

import { Type } from 'typebox'
import { operation } from '../http/operation.ts'
import { Body } from '../http/schema.ts'
import type { Ctx } from '../kernel/context.ts'
import { newId } from '../kernel/id.ts'
import { PolicyCases, requireSoundCases } from '../policies/cases/case.ts'
import { listCases } from '../policies/cases/case-store.ts'
import { CaseOutcomes, counted, tryCases } from '../policies/cases/outcome.ts'
import { Draft, maxDraftBodyBytes, withoutIgnoredInDraft } from '../policies/drafts/draft.ts'
import { readPresent } from '../policies/drafts/draft-store.ts'
import { applyDraft } from '../policies/drafts/drafted.ts'
import { draftEvaluator } from '../policy-engine/deciding/evaluate.ts'
import type { RuleSet } from '../policy-engine/deciding/rule-set.ts'
import { findRuleSet, readRuleSetVersion } from '../policy-engine/deciding/rule-set-store.ts'

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
    const { after, before } = await rulesToTry(ctx, body.draft)
    const cases = body.cases ?? (await listCases(ctx.tx))
    return counted(ctx.actor.scopes, await tryCases(draftEvaluator, after, cases, before))
  },
})

async function rulesToTry({ tx, actor }: Ctx, draft: Draft | undefined): Promise<{ after: RuleSet; before?: RuleSet }> {
  if (draft === undefined) return { after: await findRuleSet(tx, await readRuleSetVersion(tx)) }
  const of = { id: newId(), author: actor.user_id, pointer: '/draft' }
  return applyDraft(await readPresent(tx, draft), draft, of)
}

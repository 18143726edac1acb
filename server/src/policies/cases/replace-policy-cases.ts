import { isDeepStrictEqual } from 'node:util'
import { Type } from 'typebox'
import { readIfMatch, requireMatch } from '../../http/if-match.ts'
import { operation } from '../../http/operation.ts'
import { draftEvaluator } from '../../policy-engine/deciding/evaluate.ts'
import { findRuleSet } from '../../policy-engine/deciding/rule-set-store.ts'
import { findPolicyFacts } from '../../policy-facts/policy-facts.flow.ts'
import { casesTag, KeptCases, requireSoundCases } from './case.ts'
import { lockCases, saveCases } from './case-store.ts'
import { CaseOutcomes, counted, tryCases } from './outcome.ts'

/**
 * Replaces all cases by these, and evaluates them on the current rules. A required case that fails is stored: it blocks no change
 * until it has held once, so a case can be written before the rule that it needs.
 */
export const replacePolicyCases = operation({
  method: 'PUT',
  path: '/v1/policies/cases',
  summary: 'Replace the policy cases, and get the outcome of each',
  credential: 'any',
  scope: 'policies:write',
  body: KeptCases,
  replies: {
    200: Type.Object({ ...KeptCases.properties, ...CaseOutcomes.properties }, { title: 'PolicyCasesReplaced' }),
  },
  errors: [],
  etag: casesTag,
  takesIfMatch: true,
  async run(ctx, { body: { cases }, header }) {
    const tags = readIfMatch(header('if-match'))
    requireSoundCases(cases)
    const version = await ctx.tx.interactive(async (tx) => {
      const { version, kept } = await lockCases(tx)
      requireMatch(tags, casesTag({ cases: kept }))
      if (!isDeepStrictEqual(kept, cases)) await saveCases({ ...ctx, tx }, cases)
      return version
    })
    const ruleSet = await findRuleSet(ctx.tx, version)
    const { literals } = await findPolicyFacts(ctx.tx, [ruleSet])
    return { cases, ...counted(ctx.actor.scopes, await tryCases(draftEvaluator, ruleSet, cases, literals)) }
  },
})

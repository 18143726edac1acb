import { isDeepStrictEqual } from 'node:util'
import { Type } from 'typebox'
import { readIfMatch, requireMatch } from '../../http/if-match.ts'
import { operation } from '../../http/operation.ts'
import { draftEvaluator } from '../../policy-engine/deciding/evaluate.ts'
import { findRuleSet } from '../../policy-engine/deciding/rule-set-store.ts'
import { casesTag, KeptCases, requireSoundCases } from './case.ts'
import { lockCases, saveCases } from './case-store.ts'
import { CaseOutcomes, counted, tryCases } from './outcome.ts'

/**
 * Puts these cases in place of all others, and tries them on the rules as they are. A required case that fails is kept: it
 * holds no change back until it has held once, so that a case may be written before the rule that it asks for.
 */
export const replacePolicyCases = operation({
  method: 'PUT',
  path: '/v1/policies/cases',
  summary: 'Replace the policy cases, and see how each fares',
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
    return { cases, ...counted(ctx.actor.scopes, await tryCases(draftEvaluator, ruleSet, cases)) }
  },
})

import type { AskQuestion, RequestContext } from '../../src/policy-engine/cedar/question.ts'
import { sampleQuestion } from '../../src/policy-engine/cedar/samples.ts'
import { decideAsk } from '../../src/policy-engine/deciding/decide.ts'
import { findNearMisses } from '../../src/policy-engine/near-misses/near-miss.ts'
import { createPauser } from '../../src/policy-engine/near-misses/pauser.ts'
import {
  explain,
  type NearMissExplanation,
  selectShown,
  type Viewer,
} from '../../src/requests/near-miss-explanation.ts'
import { sampleRule, sampleRuleSet } from './sample-rule.ts'

/** A requester who may read rules and accounts. */
const reader = { mayReadRules: true, mayReadAccounts: true }
/** A requester who may only request access. */
export const requester = { mayReadRules: false, mayReadAccounts: false }

/** The words for one group; everything else is shown by its id. */
const people = new Map([['Group::"0b5e"', 'members of the group “Databases”']])

/** A rule with one condition. */
export const permitWhen = (condition: string) => `permit (principal, action, resource) when { ${condition} };`

export type PartialQuestion = Partial<Omit<AskQuestion, 'context'>> & { context?: Partial<RequestContext> }

/**
 * The near misses of rules `r1`, `r2`, … for a request made on Monday noon for `ReadOnlyAccess` on an account whose tag env is
 * dev, for an hour, with a reason, by token. `other` and `context` replace parts of it.
 */
export async function nearMisses(
  texts: readonly string[],
  { context, ...other }: PartialQuestion = {},
  viewer: Viewer & { accountCounts?: boolean } = reader,
): Promise<NearMissExplanation[]> {
  const ruleSet = sampleRuleSet(texts.map((text, index) => sampleRule(`r${index + 1}`, text)))
  const question = { ...sampleQuestion, ...other, context: { ...sampleQuestion.context, ...context } }
  const bounds = { shortest: 60, longest: 604_800 }
  const evaluated = {
    ruleSet,
    question,
    decision: decideAsk(ruleSet, question),
    bounds,
    accountCounts: viewer.accountCounts ?? true,
  }
  const found = await findNearMisses(evaluated, !viewer.mayReadRules, createPauser(Number.POSITIVE_INFINITY))
  const limits = { question, bounds, viewer }
  return selectShown(found, limits).map((miss) =>
    explain(miss, limits, { policies: new Map([['policy', 'Accounts']]), people }),
  )
}

export async function nearMissWords(...args: Parameters<typeof nearMisses>): Promise<string[]> {
  return (await nearMisses(...args)).map(({ words }) => words)
}

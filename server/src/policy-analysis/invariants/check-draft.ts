import { periodicYield } from '../../kernel/yield-to-event-loop.ts'
import type { Draft } from '../../policies/drafts/draft.ts'
import type { DraftOf, Present } from '../../policies/drafts/draft-work.ts'
import { applyDraft } from '../../policies/drafts/drafted.ts'
import type { LiteralFacts } from '../../policy-engine/cedar/question.ts'
import { draftEvaluator as evaluator } from '../../policy-engine/deciding/evaluate.ts'
import { requireFewLiterals } from '../../policy-facts/literals.ts'
import { literalsMissing } from '../../policy-facts/policy-facts.flow.ts'
import { answerOf } from './invariant.ts'
import { noAutoApproval } from './no-auto-approval.ts'
import { permitsNothingNew } from './permits-nothing-new.ts'
import { type ReadRule, readRules } from './read-rule.ts'
import { openBudget } from './search.ts'

/** For calls of these functions beside the main thread. */
export const draftCheckModule = import.meta.url

/** The limits of one check: questions decided, and time to prove and to search. */
const bounds = { questions: 2_000, milliseconds: 1_500 }

/** A check of the draft: that it permits nothing new, or that nothing of these resources is approved without a person. */
type AskedCheck = { isOfNews: boolean; named: Parameters<typeof noAutoApproval>[2]['named'] }

/** The answers to the checks of a draft, in their order; `literals`: the facts about the entities that its rules read. */
export async function checkDraft(
  present: Present,
  draft: Draft,
  of: DraftOf,
  checks: readonly AskedCheck[],
  literals: LiteralFacts | undefined,
) {
  const { before, after } = await applyDraft(present, draft, of)
  await evaluator.rules.prepare(before)
  await evaluator.rules.prepare(after, before)
  requireFewLiterals(evaluator, before, after)
  const missing = literalsMissing(evaluator, [before, after], literals)
  if (missing !== undefined) return missing
  const yieldToEventLoop = periodicYield()
  const known = new Map<string, ReadRule>()
  const old = await readRules(before.rules, known, yieldToEventLoop)
  const changed = await readRules(after.rules, known, yieldToEventLoop)
  const answers: ReturnType<typeof answerOf>[] = []
  for (const { isOfNews, named } of checks) {
    const means = { evaluator, budget: openBudget(bounds, yieldToEventLoop), named, literals }
    const outcome = isOfNews
      ? await permitsNothingNew({ before, after, old, changed }, means)
      : await noAutoApproval(after, changed, means)
    answers.push(answerOf(outcome))
  }
  return answers
}

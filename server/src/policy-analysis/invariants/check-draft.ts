import { periodicYield } from '../../kernel/yield-to-event-loop.ts'
import type { Draft } from '../../policies/drafts/draft.ts'
import type { DraftOf, Present } from '../../policies/drafts/draft-work.ts'
import { applyDraft } from '../../policies/drafts/drafted.ts'
import type { LiteralFacts } from '../../policy-engine/cedar/question.ts'
import { draftEvaluator as evaluator } from '../../policy-engine/deciding/evaluate.ts'
import { requireFewLiterals } from '../../policy-facts/literals.ts'
import { literalsMissing } from '../../policy-facts/policy-facts.flow.ts'
import { type ApproversCheck, onlyApprovers } from './approvers.ts'
import { answerOf } from './invariant.ts'
import { type Named, noAutoApproval } from './no-auto-approval.ts'
import type { Outcome } from './outcome.ts'
import { type Compared, permitsNothingNew } from './permits-nothing-new.ts'
import { type ReadRule, readRules } from './read-rule.ts'
import { type Means, openBudget } from './search.ts'

/** For calls of these functions beside the main thread. */
export const draftCheckModule = import.meta.url

/** The limits of one check: questions decided, and time to prove and to search. */
const bounds = { questions: 2_000, milliseconds: 1_500 }

/**
 * A check of the draft: that it permits nothing new, that nothing of the named resources is approved without a person, or that nobody
 * but these approves requests for them.
 */
export type AskedCheck =
  | { invariant: 'permits_nothing_new' }
  | { invariant: 'no_auto_approval'; named: readonly Named[] }
  | ({ invariant: 'approvers' } & ApproversCheck)

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
  await requireFewLiterals(evaluator, before, after)
  const missing = literalsMissing(evaluator, { before, after }, literals)
  if (missing !== undefined) return missing
  const yieldToEventLoop = periodicYield()
  const known = new Map<string, ReadRule>()
  const old = await readRules(before.rules, known, yieldToEventLoop)
  const changed = await readRules(after.rules, known, yieldToEventLoop)
  const answers: ReturnType<typeof answerOf>[] = []
  for (const check of checks) {
    const means = { evaluator, budget: openBudget(bounds, yieldToEventLoop), literals }
    answers.push(answerOf(await outcomeOf(check, { before, after, old, changed }, means)))
  }
  return answers
}

function outcomeOf(check: AskedCheck, compared: Compared, means: Means): Promise<Outcome> {
  switch (check.invariant) {
    case 'permits_nothing_new':
      return permitsNothingNew(compared, means)
    case 'no_auto_approval':
      return noAutoApproval(compared.after, compared.changed, { ...means, named: check.named })
    case 'approvers':
      return onlyApprovers(compared.after, compared.changed, { ...means, named: check.named, only: check.only })
  }
}

import type { PolicyCase } from '../policies/cases/case.ts'
import { tryCases } from '../policies/cases/outcome.ts'
import type { Draft } from '../policies/drafts/draft.ts'
import type { DraftOf, Present } from '../policies/drafts/draft-work.ts'
import { applyDraft } from '../policies/drafts/drafted.ts'
import type { LiteralFacts } from '../policy-engine/cedar/question.ts'
import { draftEvaluator } from '../policy-engine/deciding/evaluate.ts'
import { requireFewLiterals } from '../policy-facts/literals.ts'
import { literalsMissing } from '../policy-facts/policy-facts.flow.ts'

/** For calls of these functions beside the main thread. */
export const draftTrialModule = import.meta.url

/** The outcomes of the cases on the rules of a draft; `literals`: the facts about the entities that these read. */
export async function tryDraft(
  present: Present,
  draft: Draft,
  of: DraftOf,
  cases: readonly PolicyCase[],
  literals: LiteralFacts | undefined,
) {
  const { before, after } = await applyDraft(present, draft, of)
  await requireFewLiterals(draftEvaluator, before, after)
  return (
    literalsMissing(draftEvaluator, { before, after }, literals) ??
    (await tryCases(draftEvaluator, after, cases, literals))
  )
}

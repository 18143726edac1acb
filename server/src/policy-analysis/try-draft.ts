import type { PolicyCase } from '../policies/cases/case.ts'
import { type CaseOutcome, tryCases } from '../policies/cases/outcome.ts'
import type { Draft } from '../policies/drafts/draft.ts'
import type { DraftOf, Present } from '../policies/drafts/draft-work.ts'
import { applyDraft } from '../policies/drafts/drafted.ts'
import { draftEvaluator } from '../policy-engine/deciding/evaluate.ts'

/** For calls of these functions beside the main thread. */
export const draftTrialModule = import.meta.url

/** The outcomes of the cases on the rules of a draft. */
export async function tryDraft(
  present: Present,
  draft: Draft,
  of: DraftOf,
  cases: readonly PolicyCase[],
): Promise<CaseOutcome[]> {
  const { before, after } = await applyDraft(present, draft, of)
  return tryCases(draftEvaluator, after, cases, before)
}

import type { AskQuestion } from '../../policy-engine/cedar/question.ts'
import type { Decision } from '../../policy-engine/deciding/decide.ts'

/** A question that breaks an invariant, and the decisions that show it. INVARIANT: the checked rules gave these decisions. */
export type Counterexample = {
  question: AskQuestion
  decision: Decision
  /** The decision by the current rules, where two sets are compared. */
  before?: Decision
}

/** `proved`: by the scopes of the rules, for every question. `not_found_in_search`: no counterexample found, which is no proof. */
export type Outcome =
  | { result: 'proved' | 'not_found_in_search'; tried: number }
  | { result: 'counterexample'; tried: number; counterexample: Counterexample }

import type { ApproveQuestion, AskQuestion } from '../../policy-engine/cedar/question.ts'
import type { Decision } from '../../policy-engine/deciding/decide.ts'

/** A question that can break an invariant: may somebody request this, or may somebody decide that request? */
export type AnyQuestion = AskQuestion | ApproveQuestion

/** A question that breaks an invariant, and the decisions that show it. INVARIANT: the checked rules gave these decisions. */
export type Counterexample<Question = AnyQuestion> = {
  question: Question
  decision: Decision
  /** The decision by the current rules, where two sets are compared. */
  before?: Decision
}

/** `proved`: by the scopes of the rules, for every question. `not_found_in_search`: no counterexample found, which is no proof. */
export type Outcome<Question = AnyQuestion> =
  | { result: 'proved' | 'not_found_in_search'; tried: number }
  | { result: 'counterexample'; tried: number; counterexample: Counterexample<Question> }

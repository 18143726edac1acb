import type { Resource } from '../cedar/question.ts'
import type { ApprovalMode } from '../rule.ts'
import type { Answer, RuleError } from './evaluate.ts'
import type { PolicyRule } from './rule-set.ts'

/** The answers about one resource. */
export type Verdict = {
  resource: Resource
  allowed: boolean
  mode: ApprovalMode | null
  /** The answer to whether; for `auto` `decisive` are the permits that gave the mode. */
  answer: Answer
  decisive: PolicyRule[]
  /** What made an answer at once impossible although an `auto` permit matched or stood by. */
  heldBy: PolicyRule[]
  errors: RuleError[]
}

/** Who asks for what, as far as the words of a decision say it. */
export type Subject = { principal: { scopes: readonly string[] }; act: string; emergency: boolean }

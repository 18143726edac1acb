import type { Resource } from '../cedar/question.ts'
import type { ApprovalMode } from '../rule.ts'
import type { Answer, RuleError } from './evaluate.ts'
import type { PolicyRule } from './rule-set.ts'

/** The answers about one resource. */
export type Verdict = {
  resource: Resource
  allowed: boolean
  mode: ApprovalMode | null
  /** Whether the access is allowed; for `auto`, `decisive` are the permits that gave the mode. */
  answer: Answer
  decisive: PolicyRule[]
  /** The rules that prevented an approval at once although an `auto` permit matched or could have. */
  heldBy: PolicyRule[]
  errors: RuleError[]
}

/** The principal and the action, as the text of a decision names them. */
export type Subject = { principal: { scopes: readonly string[] }; act: string; emergency: boolean }

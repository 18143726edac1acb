import { isDeepStrictEqual } from 'node:util'
import { changeStatement } from '../policy-engine/cedar/changed-statement.ts'
import { parseConditions } from '../policy-engine/cedar/parse.ts'
import { type RuleStatement, type StatementFields, statementFromInput } from '../policy-engine/cedar/statement.ts'
import type { Rule, RuleInput } from '../policy-engine/rule.ts'

/** The result of a change of a rule; without a statement, the stored one stays, and so does the user who saved it. */
export type RuleChange = { ordinal: number; statement: RuleStatement | undefined }

/** For calls of these functions beside the main thread. */
export const ruleChangeModule = import.meta.url

/** Checks the texts of a change alone, for a rule that does not exist. */
export function requireReadable(change: RuleInput): void {
  if (change.policy_text !== undefined) statementFromInput(change)
  else if (change.conditions?.trim()) parseConditions(change.conditions)
}

/**
 * The rule's changes; undefined where nothing changes.
 * @throws Problem `invalid_policy` or `invalid_input`, as for a new rule.
 */
export function changeRule(before: Rule, { ordinal = before.ordinal, ...words }: RuleInput): RuleChange | undefined {
  const statement = statementAfter(statementFieldsOf(before), words)
  return statement === undefined && ordinal === before.ordinal ? undefined : { ordinal, statement }
}

/** Undefined where the statement does not change; its text then also stays as its author wrote it. */
function statementAfter(before: StatementFields, words: RuleInput): RuleStatement | undefined {
  if (isDeepStrictEqual({ ...before, ...words }, before)) return undefined
  const after = changeStatement(before, words)
  return isDeepStrictEqual(after.fields, before) ? undefined : after
}

function statementFieldsOf(rule: Rule): StatementFields {
  const { id, policy_id, ordinal, created_at, updated_at, warnings, ...fields } = rule
  return fields
}

/** How a change is applied to a rule's statement. */
import { isDeepStrictEqual } from 'node:util'
import type { RuleInput } from '../rule.ts'
import { completeWords, writeAnnotations } from './annotations.ts'
import type { Source } from './fault.ts'
import { headOf } from './guard.ts'
import { parseStatement, printAnnotations } from './parse.ts'
import { approveAction } from './schema.ts'
import { scopeFromEngine } from './scope.ts'
import {
  type RuleStatement,
  readStatement,
  requireSame,
  type StatementFields,
  statementFromInput,
  validate,
} from './statement.ts'

/**
 * The statement of a rule after a change. Fields that the change leaves out keep their value; a new `policy_text` or new
 * structured fields rebuild the statement, a new scope type resets its scope, and a new effect drops the old approval mode.
 * '' empties notice and conditions. A change of the annotated fields alone leaves the rest of the text as its author wrote it.
 */
export function changeStatement(before: StatementFields, change: RuleInput): RuleStatement {
  if (change.policy_text === undefined && isOfWordsAlone(before, change)) return withWords(before, change)
  const { policy_text: _text, ...kept } = before
  const base: RuleInput = { ...kept }
  for (const side of ['principal', 'resource'] as const) {
    if (change[`${side}_scope_type`] === undefined) continue
    delete base[`${side}_entity_type`]
    delete base[`${side}_entity_id`]
  }
  if (change.action_scope_type !== undefined) delete base.action_ids
  const becomes = change.policy_text === undefined ? change : { ...change, ...readStatement(change.policy_text) }
  const turns = becomes.effect !== undefined && becomes.effect !== before.effect
  const namesApprove = (becomes.action_ids ?? base.action_ids ?? []).includes(approveAction)
  if (turns || namesApprove) delete base.approval_mode
  return statementFromInput({ ...base, ...change })
}

function isOfWordsAlone(before: StatementFields, change: RuleInput): boolean {
  const { notice, audit_session, approval_mode, ...others } = change
  return isDeepStrictEqual({ ...before, ...others }, before)
}

/** Rewrites the annotations and leaves the rest of the text unchanged. */
function withWords(before: StatementFields, change: RuleInput): RuleStatement {
  const { notice, audit_session, approval_mode, ...rest } = before
  const text = before.policy_text
  const parsed = parseStatement(text)
  const { effect } = parsed
  const scope = scopeFromEngine(parsed)
  const words = completeWords(effect, scope.action, { ...before, ...change })
  const id = parsed.annotations?.id
  const annotations = { ...(id === undefined ? {} : { id: id ?? '' }), ...writeAnnotations(words, effect) }
  const policyText = printAnnotations(annotations, { field: 'policy_text', text }) + text.slice(headOf(text))
  const source: Source = { field: 'policy_text', text: policyText }
  const changed = parseStatement(policyText)
  requireSame(changed, { ...parsed, annotations }, source)
  return validate({ fields: { ...rest, policy_text: policyText, ...words }, scope, parsed: changed, source })
}

/**
 * A rule's statement: from the structured fields or from text, to everything that is stored. Fields become the engine's
 * JSON and are printed by it, text is parsed by it; nothing is ever pasted together.
 */
import { isDeepStrictEqual } from 'node:util'
import { invalidInput, Problem } from '../../kernel/errors.ts'
import { type ApprovalMode, type Effect, type RuleInput, scopeLimits } from '../rule.ts'
import { approvalModeOf, type RuleWords, readAnnotations, writeAnnotations } from './annotations.ts'
import type { Clause, PolicyJson } from './engine.ts'
import { invalidPolicy, type Source } from './fault.ts'
import { headOf } from './guard.ts'
import { parseConditions, parseStatement, printAnnotations, printConditions, printStatement } from './parse.ts'
import { approveAction } from './schema.ts'
import { type ScopeFields, scopeFields, scopeFromEngine, scopeFromFields, scopeToEngine } from './scope.ts'
import { findValid, namedActions, type RuleSetName, requireValid, ruleSetsOf } from './validate.ts'

/** What is stored of a rule beside its ids, ordinal and dates. What is empty is absent. */
export type StatementFields = ScopeFields & {
  effect: Effect
  conditions?: string
  policy_text: string
  notice?: string
  audit_session: boolean
  approval_mode?: ApprovalMode
}

export type Statement = {
  fields: StatementFields
  /** The rule sets that it takes part in. */
  sets: RuleSetName[]
  /** Every action id that it names. */
  named_actions: string[]
  /** What the engine warns of, as sentences. */
  warnings: string[]
}

/**
 * The statement of a new rule. With `policy_text`, the text is the rule: of the other fields notice, audit_session and
 * approval_mode count where the text has no such annotation, the rest is ignored. Without, `effect` is required and the
 * fields are assembled.
 * @throws Problem `invalid_policy` for a statement that is not valid, `invalid_input` for fields that do not fit.
 */
export function statementFromInput(input: RuleInput): Statement {
  return input.policy_text === undefined ? fromFields(input) : fromText(input.policy_text, input)
}

/**
 * The statements of many texts, for a fraction of what they cost one after another; undefined for one that anything is wrong
 * with or to be warned of: `statementFromInput` tells what.
 */
export function statementsFromTexts(texts: readonly string[]): (Statement | undefined)[] {
  const read = texts.map((text) => {
    try {
      return fieldsOfText(text, {})
    } catch (error) {
      if (error instanceof Problem) return undefined
      throw error
    }
  })
  const sound = read.filter((one) => one !== undefined)
  const valid = new Set(
    findValid(sound.map(({ parsed }) => parsed)).flatMap((isValid, index) => (isValid ? [sound[index]] : [])),
  )
  return read.map((one) => (one !== undefined && valid.has(one) ? accepted(one.fields, one.parsed, []) : undefined))
}

/** The structured fields of a statement in text. */
export function readStatement(policyText: string): StatementFields {
  return fieldsOfText(policyText, {}).fields
}

function fromText(policyText: string, beside: RuleWords): Statement {
  const { fields, parsed, source } = fieldsOfText(policyText, beside)
  return accepted(fields, parsed, requireValid(parsed, source))
}

function fieldsOfText(policyText: string, beside: RuleWords) {
  const source: Source = { field: 'policy_text', text: policyText }
  const parsed = parseStatement(policyText)
  const words = { ...beside, ...readAnnotations(parsed, source) }
  const fields = {
    ...sayable(parsed, source),
    effect: parsed.effect,
    ...present('conditions', printConditions(parsed.conditions, source)),
    policy_text: policyText,
    ...wordsOf(parsed, words),
  }
  return { fields, parsed, source }
}

/** The scope of a statement as fields; 400 `invalid_policy` where they cannot say it. */
function sayable(parsed: PolicyJson, source: Source): ScopeFields {
  const fields = scopeFields(scopeFromEngine(parsed))
  const { action_scope_type, action_ids, principal_entity_id = '', resource_entity_id = '' } = fields
  const refuse = (message: string, help: string) => invalidPolicy(message, source, undefined, help)
  if (action_scope_type !== 'any' && action_ids.length === 0)
    throw refuse('the list of actions is empty', 'name an action, or leave it at `action`')
  if (action_ids.length > scopeLimits.actions)
    throw refuse(`the scope names more than ${scopeLimits.actions} actions`, 'make two rules of it')
  if (action_ids.some((id) => [...id].length > scopeLimits.actionId))
    throw refuse(
      `the scope names an action of more than ${scopeLimits.actionId} characters`,
      'such an action cannot be asked for',
    )
  if ([principal_entity_id, resource_entity_id].some((id) => [...id].length > scopeLimits.entityId))
    throw refuse(`the scope names an id of more than ${scopeLimits.entityId} characters`, 'such an id does not exist')
  return fields
}

function fromFields(input: RuleInput): Statement {
  const { effect } = input
  if (effect === undefined)
    throw invalidInput([{ pointer: '/effect', why: 'is required where there is no `policy_text`' }])
  const conditions = input.conditions?.trim() ?? ''
  const source: Source = { field: 'conditions', text: conditions }
  const scope = scopeFromFields(input)
  const clauses = conditions === '' ? [] : parseConditions(conditions)
  const head = { effect, ...scopeToEngine(scope), conditions: [] as Clause[] }
  const words = wordsOf(head, input)
  const assembled: PolicyJson = {
    ...head,
    conditions: clauses,
    annotations: writeAnnotations(writtenWords(words, effect)),
  }

  const policyText = printStatement(assembled, source)
  const parsed = parseStatement(policyText)
  requireSame(parsed, assembled, source)
  const fields = {
    ...scopeFields(scope),
    effect,
    ...present('conditions', conditions),
    policy_text: policyText,
    ...words,
  }
  return accepted(fields, parsed, validatedInPlace(parsed, head, source))
}

/** Validates the assembled statement; faults in the conditions are told by their place in the caller's own text. */
function validatedInPlace(parsed: PolicyJson, head: PolicyJson, source: Source): string[] {
  if (source.text === '') return requireValid(parsed, { field: 'policy_text', text: printStatement(parsed, source) })
  const before = `${printStatement(head, source).slice(0, -';'.length)}\n`
  return requireValid(parsed, source, { before, after: '\n;' })
}

/** INVARIANT: the stored text means what the fields say. It is read back by the engine and compared. */
function requireSame(printed: PolicyJson, assembled: PolicyJson, source: Source): void {
  const meaning = (statement: PolicyJson) => {
    const { scope, ...rest } = { scope: scopeFromEngine(statement), ...statement }
    return JSON.stringify([scope, rest.effect, rest.conditions, Object.entries(rest.annotations ?? {}).sort()])
  }
  if (meaning(printed) !== meaning(assembled))
    throw invalidPolicy('the fields cannot be written as one statement', source, undefined, 'send it as `policy_text`')
}

function wordsOf(statement: PolicyJson, words: RuleWords) {
  const namesApprove = scopeFromEngine(statement).action.ids.includes(approveAction)
  const mode = approvalModeOf({ effect: statement.effect, namesApprove, mode: words.approval_mode })
  return {
    ...present('notice', words.notice),
    audit_session: words.audit_session ?? false,
    ...(mode === undefined ? {} : { approval_mode: mode }),
  }
}

/** `require` is what a permit means without a word, so it is not written. */
function writtenWords(words: RuleWords, effect: Effect): RuleWords {
  const { approval_mode: mode, ...others } = words
  return mode === undefined || (mode === 'require' && effect === 'permit') ? others : words
}

function accepted(fields: StatementFields, parsed: PolicyJson, warnings: string[]): Statement {
  const sets = ruleSetsOf(scopeFromEngine(parsed).action)
  return { fields, sets, named_actions: [...namedActions(parsed)].sort(), warnings }
}

function present<Key extends string>(key: Key, value: string | undefined): { [K in Key]?: string } {
  return (value === undefined || value === '' ? {} : { [key]: value }) as { [K in Key]?: string }
}

/**
 * The statement of a rule after a change. Fields that the change leaves out keep their value; a new `policy_text` or new
 * structured fields make the statement anew, a new scope type starts its scope afresh, and a new effect drops the old
 * approval mode. '' empties notice and conditions. A change of the words alone leaves the rest of the text as its author
 * wrote it.
 */
export function changeStatement(before: StatementFields, change: RuleInput): Statement {
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

function withWords(before: StatementFields, change: RuleInput): Statement {
  const { notice, audit_session, approval_mode, ...rest } = before
  const text = before.policy_text
  const parsed = parseStatement(text)
  const words = wordsOf(parsed, { ...before, ...change })
  const id = parsed.annotations?.id
  const annotations = {
    ...(id === undefined ? {} : { id: id ?? '' }),
    ...writeAnnotations(writtenWords(words, before.effect)),
  }
  const policyText = printAnnotations(annotations, { field: 'policy_text', text }) + text.slice(headOf(text))
  const source: Source = { field: 'policy_text', text: policyText }
  const changed = parseStatement(policyText)
  requireSame(changed, { ...parsed, annotations }, source)
  return accepted({ ...rest, policy_text: policyText, ...words }, changed, requireValid(changed, source))
}

/**
 * A rule's statement: from text or from the structured fields, to everything that is stored. The steps, from top to bottom:
 * text or fields → parsed, behind the guard → compared with the fields → validated → statement. Fields become the engine's JSON,
 * which the engine prints; the engine parses text. Strings are never concatenated into a statement.
 */
import { invalidInput, Problem } from '../../kernel/errors.ts'
import { type ApprovalMode, type Effect, type RuleInput, scopeLimits } from '../rule.ts'
import { completeWords, type RuleWords, readAnnotations, writeAnnotations } from './annotations.ts'
import type { PolicyJson } from './engine.ts'
import { invalidPolicy, type Source } from './fault.ts'
import { parseConditions, parseStatement, printConditions, printStatement } from './parse.ts'
import { type EntityReference, readingOf } from './reading.ts'
import { type Scope, type ScopeFields, scopeFields, scopeFromEngine, scopeFromFields, scopeToEngine } from './scope.ts'
import { findValid, namedActions, type RuleSetName, requireValid, ruleSetsOf } from './validate.ts'

/** For calls of these functions beside the main thread. */
export const statementModule = import.meta.url

/** The stored fields of a rule other than its ids, ordinal and dates. Empty fields are absent. */
export type StatementFields = ScopeFields & {
  effect: Effect
  conditions?: string
  policy_text: string
  notice?: string
  audit_session: boolean
  approval_mode?: ApprovalMode
}

export type RuleStatement = {
  fields: StatementFields
  /** The rule sets that the rule belongs to. */
  sets: RuleSetName[]
  /** Every action id that it names. */
  named_actions: string[]
  /** Every entity that it names and reads. */
  literals: readonly EntityReference[]
  /** The engine's warnings, as sentences. */
  warnings: string[]
}

/** A statement that the engine has parsed, and the caller's text to which its faults refer. */
export type ParsedStatement = {
  fields: StatementFields
  scope: Scope
  parsed: PolicyJson
  source: Source
  /** The text around the caller's text in the statement, where the caller's text is only its conditions. */
  frame?: { before: string; after: string }
}

/**
 * The statement of a new rule. With `policy_text`, the text is the rule: the fields notice, audit_session and approval_mode count
 * where the text has no such annotation, and the other fields are ignored. Without it, `effect` is required and the fields make
 * the statement.
 * @throws Problem `invalid_policy` for a statement that is not valid, `invalid_input` for fields that do not fit.
 */
export function statementFromInput(input: RuleInput): RuleStatement {
  return validate(input.policy_text === undefined ? readFields(input) : readText(input.policy_text, input))
}

/**
 * The statements of many texts, for a fraction of their cost one after another; undefined for a text with a fault or a warning:
 * `statementFromInput` gives that.
 */
export function statementsFromTexts(texts: readonly string[]): (RuleStatement | undefined)[] {
  const read = texts.map((text) => {
    try {
      return readText(text, {})
    } catch (error) {
      if (error instanceof Problem) return undefined
      throw error
    }
  })
  const sound = read.filter((one) => one !== undefined)
  const areValid = findValid(sound.map(({ parsed }) => parsed))
  const valid = new Set(sound.filter((_one, index) => areValid[index]))
  return read.map((one) => (one !== undefined && valid.has(one) ? accepted(one, []) : undefined))
}

/** The structured fields of a statement in text. */
export function readStatement(policyText: string): StatementFields {
  return readText(policyText, {}).fields
}

// ── Text → parsed ──────────────────────────────────────────────────────────────────────────────────────────────────────

function readText(policyText: string, beside: RuleWords): ParsedStatement {
  const source: Source = { field: 'policy_text', text: policyText }
  const parsed = parseStatement(policyText)
  const words = { ...beside, ...readAnnotations(parsed, source) }
  const { effect } = parsed
  const scope = scopeFromEngine(parsed)
  const fields = {
    ...expressible(scope, source),
    effect,
    ...conditionsField(printConditions(parsed.conditions, source)),
    policy_text: policyText,
    ...completeWords(effect, scope.action, words),
  }
  return { fields, scope, parsed, source }
}

/** The scope of a statement as fields; 400 `invalid_policy` where the fields cannot hold it. */
function expressible(scope: Scope, source: Source): ScopeFields {
  const fields = scopeFields(scope)
  const { action_scope_type, action_ids, principal_entity_id = '', resource_entity_id = '' } = fields
  const refuse = (message: string, help: string) => invalidPolicy(message, source, undefined, help)
  if (action_scope_type !== 'any' && action_ids.length === 0)
    throw refuse('the list of actions is empty', 'name an action, or write `action` alone')
  if (action_ids.length > scopeLimits.actions)
    throw refuse(`the scope names more than ${scopeLimits.actions} actions`, 'split it into two rules')
  if (action_ids.some((id) => [...id].length > scopeLimits.actionId))
    throw refuse(
      `the scope names an action of more than ${scopeLimits.actionId} characters`,
      'shorten the action: one that long cannot be requested',
    )
  if ([principal_entity_id, resource_entity_id].some((id) => [...id].length > scopeLimits.entityId))
    throw refuse(
      `the scope names an id of more than ${scopeLimits.entityId} characters`,
      'shorten the id: one that long does not exist',
    )
  return fields
}

// ── Fields → text → parsed ─────────────────────────────────────────────────────────────────────────────────────────────

function readFields(input: RuleInput): ParsedStatement {
  const { effect } = input
  if (effect === undefined)
    throw invalidInput([{ pointer: '/effect', why: 'is required where there is no `policy_text`' }])
  const source: Source = { field: 'conditions', text: input.conditions?.trim() ?? '' }
  const scope = scopeFromFields(input)
  const conditions = source.text === '' ? [] : parseConditions(source.text)
  const words = completeWords(effect, scope.action, input)
  const head: PolicyJson = { effect, ...scopeToEngine(scope), conditions: [] }
  const assembled = { ...head, conditions, annotations: writeAnnotations(words, effect) }

  const policyText = printStatement(assembled, source)
  const parsed = parseStatement(policyText)
  requireSame(parsed, assembled, source)
  const fields = {
    ...scopeFields(scope),
    effect,
    ...conditionsField(source.text),
    policy_text: policyText,
    ...words,
  }
  return { fields, scope, parsed, ...placeOfFaults(parsed, head, source) }
}

/** INVARIANT: the stored text means the same as the fields. The engine parses it again, and the result is compared. */
export function requireSame(printed: PolicyJson, assembled: PolicyJson, source: Source): void {
  const meaning = (statement: PolicyJson) => {
    const { scope, ...rest } = { scope: scopeFromEngine(statement), ...statement }
    return JSON.stringify([scope, rest.effect, rest.conditions, Object.entries(rest.annotations ?? {}).sort()])
  }
  if (meaning(printed) !== meaning(assembled))
    throw invalidPolicy('the fields cannot be written as one statement', source, undefined, 'send it as `policy_text`')
}

/** Faults in the conditions refer to the caller's own text; without conditions, to the printed statement. */
function placeOfFaults(
  parsed: PolicyJson,
  head: PolicyJson,
  source: Source,
): Pick<ParsedStatement, 'source' | 'frame'> {
  if (source.text === '') return { source: { field: 'policy_text', text: printStatement(parsed, source) } }
  const before = `${printStatement(head, source).slice(0, -';'.length)}\n`
  return { source, frame: { before, after: '\n;' } }
}

function conditionsField(conditions: string): { conditions?: string } {
  return conditions === '' ? {} : { conditions }
}

// ── Parsed → validated ─────────────────────────────────────────────────────────────────────────────────────────────────

/** 400 `invalid_policy` for a statement that does not fit the schema. */
export function validate(statement: ParsedStatement): RuleStatement {
  const { parsed, source, frame } = statement
  return accepted(statement, requireValid(parsed, source, frame))
}

function accepted({ fields, scope, parsed }: ParsedStatement, warnings: string[]): RuleStatement {
  const { literals } = readingOf(parsed)
  return { fields, sets: ruleSetsOf(scope.action), named_actions: [...namedActions(parsed)].sort(), literals, warnings }
}

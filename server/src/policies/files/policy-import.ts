/** Plans the import of a file into a policy. A rule that is unchanged in the file stays untouched. */

import { Problem } from '../../kernel/errors.ts'
import { newId } from '../../kernel/id.ts'
import { periodicYield } from '../../kernel/yield-to-event-loop.ts'
import { type FileStatement, splitFile } from '../../policy-engine/cedar/file.ts'
import {
  type RuleStatement,
  readStatement,
  type StatementFields,
  statementFromInput,
  statementsFromTexts,
} from '../../policy-engine/cedar/statement.ts'
import { maxOrdinal } from '../../policy-engine/rule.ts'
import { maxRules } from '../policy.ts'
import { type FileFaults, gatherFaults } from './file-faults.ts'
import { type FiledRule, type RuleText, ruleTexts } from './policy-file.ts'

/** For calls of these functions beside the main thread. */
export const policyImportModule = import.meta.url

/** A rule in the file: its id, and its number, line and ordinal there. */
type Place = { id: string; number: number; line: number; ordinal: number }

export type ImportPlan = {
  added: (Place & { statement: RuleStatement })[]
  /** Without a statement, the stored statement stays, and so does the user who saved it. */
  changed: (Place & { statement: RuleStatement | undefined })[]
  removed: string[]
  unchanged: number
}

/**
 * Compares a file with the rules of a policy. A statement is matched to the rule that its `@id` names, by uuid or by the author's
 * name; else to a rule that means the same. Long work, which yields to the event loop.
 * @throws Problem `invalid_policy` with up to 20 faults, each with its place in the file
 */
export async function planImport(file: string, rules: readonly FiledRule[]): Promise<ImportPlan> {
  const statements = splitFile(file, maxRules)
  if (statements.length > maxRules)
    throw new Problem('unprocessable', `the file has more than ${maxRules} statements, the tenant’s maximum of rules`)
  const faults = gatherFaults(file)
  const ordinals = ordinalsOf(statements, faults)
  const stored = ruleTexts(rules)
  const pairs = pairNamed(stored, statements, faults)
  const yieldToEventLoop = periodicYield()
  const read = await readStatements(statements, pairs, { faults, yieldToEventLoop })
  faults.requireNone()
  await pairAlike(stored, read, pairs, yieldToEventLoop)
  const lines = linesOf(file, statements)
  const places = statements.map((_, index) => ({
    number: index + 1,
    line: lines[index] ?? 1,
    ordinal: ordinals[index] ?? 0,
  }))
  return compare(stored, statements, { places, pairs, read })
}

/** The number of statements parsed in one batch: enough to be fast, few enough not to block the event loop. */
const readTogether = 32

/** Parses every statement except those identical to a rule's text, which were parsed when they were saved. */
async function readStatements(
  statements: readonly FileStatement[],
  pairs: ReadonlyMap<FileStatement, RuleText>,
  { faults, yieldToEventLoop }: { faults: FileFaults; yieldToEventLoop: () => Promise<void> },
): Promise<Map<FileStatement, RuleStatement>> {
  const read = new Map<FileStatement, RuleStatement>()
  const unread = [...statements.entries()].filter(([, statement]) => pairs.get(statement)?.text !== statement.text)
  for (let first = 0; first < unread.length; first += readTogether) {
    await yieldToEventLoop()
    const together = unread.slice(first, first + readTogether)
    const sound = statementsFromTexts(together.map(([, { text }]) => text))
    for (const [place, [index, statement]] of together.entries()) {
      const one =
        sound[place] ?? faults.attempt(index + 1, statement, () => statementFromInput({ policy_text: statement.text }))
      if (one !== undefined) read.set(statement, one)
      if (sound[place] === undefined) await yieldToEventLoop()
    }
  }
  return read
}

/** The ordinals; a statement without one comes right after the statement before it. */
function ordinalsOf(statements: readonly FileStatement[], faults: FileFaults): number[] {
  let last = -1
  return statements.map((statement, index) => {
    const { ordinal: written } = statement
    last = written === undefined ? Math.min(last + 1, maxOrdinal) : Number(written)
    if (written !== undefined && (!/^\d{1,10}$/.test(written) || last > maxOrdinal)) {
      faults.add(index + 1, statement, '`@ordinal` has an invalid value', 'use a whole number from 0')
      last = 0
    }
    return last
  })
}

/** Matches statements to rules by `@id`, and then by identical text. */
function pairNamed(stored: readonly RuleText[], statements: readonly FileStatement[], faults: FileFaults) {
  const byId = new Map(stored.map((one) => [one.rule.id, one]))
  const byName = new Map(stored.flatMap((one) => (one.name === undefined ? [] : [[one.name, one] as const])))
  const pairs = new Map<FileStatement, RuleText>()
  const numbers = new Map<string, number>()
  for (const [index, statement] of statements.entries()) {
    const { id, name } = statement
    const key = id ?? name
    if (key === undefined) continue
    const first = numbers.get(key)
    if (first !== undefined)
      faults.add(index + 1, statement, `\`@id("${key}")\` occurs twice`, `statement ${first} has it`)
    numbers.set(key, index + 1)
    const rule = id === undefined ? byName.get(key) : byId.get(key)
    if (rule !== undefined) pairs.set(statement, rule)
  }
  const taken = new Set(pairs.values())
  pairEqual(
    statements.filter((statement) => !pairs.has(statement)).map((statement) => [statement, statement.text]),
    stored.filter((one) => !taken.has(one)).map((one) => [one, one.text]),
    pairs,
  )
  return pairs
}

/** Pairs each statement with the first unmatched rule of the same key. */
function pairEqual(
  statements: readonly (readonly [FileStatement, string])[],
  rules: readonly (readonly [RuleText, string])[],
  pairs: Map<FileStatement, RuleText>,
): void {
  const left = Map.groupBy(rules, ([, key]) => key)
  for (const [statement, key] of statements) {
    const next = left.get(key)?.shift()
    if (next !== undefined) pairs.set(statement, next[0])
  }
}

/** Matches the remaining statements to the remaining rules where both mean the same. */
async function pairAlike(
  stored: readonly RuleText[],
  read: ReadonlyMap<FileStatement, RuleStatement>,
  pairs: Map<FileStatement, RuleText>,
  yieldToEventLoop: () => Promise<void>,
): Promise<void> {
  const open = [...read].filter(([statement]) => !pairs.has(statement))
  if (open.length === 0) return
  const taken = new Set(pairs.values())
  const scopes = new Set(open.map(([, { fields }]) => scopeKeyOf(fields)))
  const rules: [RuleText, string][] = []
  for (const one of stored) {
    // Its text is read only if a statement could mean the same: reading takes a tenth of a millisecond.
    if (taken.has(one) || !scopes.has(scopeKeyOf(one.rule))) continue
    await yieldToEventLoop()
    rules.push([one, meaningOfRule(one.rule)])
  }
  pairEqual(
    open.map(([statement, { fields }]) => [statement, meaningOf(fields)]),
    rules,
    pairs,
  )
}

/** The effect and the scope, which a rule has beside its text. */
function scopeKeyOf(of: StatementFields): string {
  const { effect, principal_scope_type, principal_entity_type, principal_entity_id } = of
  const { action_scope_type, action_ids, resource_scope_type, resource_entity_type, resource_entity_id } = of
  const sides = [principal_scope_type, principal_entity_type, principal_entity_id]
  const others = [resource_scope_type, resource_entity_type, resource_entity_id]
  return JSON.stringify([effect, action_scope_type, action_ids, ...[...sides, ...others].map((one) => one ?? null)])
}

/** The meaning of a statement, independent of its formatting. */
function meaningOf({ policy_text: _text, ...said }: StatementFields): string {
  return JSON.stringify(Object.entries(said).sort(([a], [b]) => (a < b ? -1 : 1)))
}

/** For the annotated fields, the columns take precedence over the text. */
function meaningOfRule({ policy_text, notice, audit_session, approval_mode }: FiledRule): string {
  const { notice: _n, approval_mode: _m, ...said } = readStatement(policy_text)
  const beside = { ...(notice && { notice }), audit_session, ...(approval_mode && { approval_mode }) }
  return meaningOf({ ...said, ...beside })
}

type Read = {
  places: readonly Omit<Place, 'id'>[]
  pairs: ReadonlyMap<FileStatement, RuleText>
  read: ReadonlyMap<FileStatement, RuleStatement>
}

function compare(stored: readonly RuleText[], statements: readonly FileStatement[], { places, pairs, read }: Read) {
  const kept = new Set(pairs.values())
  const removed = stored.filter((one) => !kept.has(one)).map(({ rule }) => rule.id)
  const plan: ImportPlan = { added: [], changed: [], removed, unchanged: 0 }
  for (const [index, found] of statements.entries()) {
    const place = places[index]
    const pair = pairs.get(found)
    const statement = read.get(found)
    if (place === undefined) continue
    if (pair === undefined) {
      if (statement !== undefined) plan.added.push({ ...place, id: newId(), statement })
      continue
    }
    const isSame = statement === undefined || saysTheSame(pair, found, statement)
    if (isSame && pair.rule.ordinal === place.ordinal) plan.unchanged += 1
    else plan.changed.push({ ...place, id: pair.rule.id, statement: isSame ? undefined : statement })
  }
  return plan
}

/** A rule keeps its author's name where the file gives none. */
function saysTheSame({ rule, name }: RuleText, found: FileStatement, { fields }: RuleStatement): boolean {
  return (found.name === undefined || found.name === name) && meaningOf(fields) === meaningOfRule(rule)
}

/** The line on which each statement begins, from 1. */
function linesOf(file: string, statements: readonly FileStatement[]): number[] {
  let line = 1
  let at = 0
  return statements.map(({ start }) => {
    for (let next = file.indexOf('\n', at); next >= 0 && next < start; next = file.indexOf('\n', at)) {
      line += 1
      at = next + 1
    }
    return line
  })
}

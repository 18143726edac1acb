/** Whether a statement makes sense against the schema of the questions that it takes part in. */
import { Problem } from '../../kernel/errors.ts'
import type { PolicyJson } from './engine.ts'
import { engineRefused, engineWarning, invalidPolicy, type Source } from './fault.ts'
import { withTextEngine } from './parse.ts'
import { approveOf, askOf } from './question.ts'
import { sampleAccount, sampleApproval, sampleAsk } from './samples.ts'
import { approveAction, schemaWith, unnamedAction } from './schema.ts'
import { scopeFromEngine } from './scope.ts'

export type RuleSetName = 'ask' | 'approve'

/** The rule sets that a statement takes part in: `approve` only if its action scope names it, `any` speaks of asking. */
export function ruleSetsOf(action: { scope: string; ids: string[] }): RuleSetName[] {
  const sets: RuleSetName[] = []
  if (action.scope === 'any' || action.ids.some((id) => id !== approveAction)) sets.push('ask')
  if (action.ids.includes(approveAction)) sets.push('approve')
  return sets
}

/** Every action id that the statement names, in its scope or its conditions. */
export function namedActions(statement: PolicyJson): Set<string> {
  const ids = new Set(scopeFromEngine(statement).action.ids)
  const pending: unknown[] = statement.conditions.map((clause) => clause.body)
  for (let next = pending.pop(); next !== undefined; next = pending.pop()) {
    if (typeof next !== 'object' || next === null) continue
    const { __entity: entity } = next as { __entity?: { type: string; id: string } }
    if (entity?.type === 'Action') ids.add(entity.id)
    pending.push(...Object.values(next))
  }
  return ids
}

/** The actions that a statement is validated with. */
function schemaActions(statement: PolicyJson, source: Source): Set<string> {
  const { action } = scopeFromEngine(statement)
  const ids = namedActions(statement)
  for (const id of ids)
    if (id.startsWith('__'))
      throw invalidPolicy(`the action \`${id}\` begins with two underscores, which is reserved`, source)
  // Only the scope puts a rule among those of `approve`; elsewhere it is no action at all.
  if (!action.ids.includes(approveAction)) ids.delete(approveAction)
  if (action.scope === 'any') ids.add(unnamedAction)
  return ids
}

/**
 * Refuses a statement that does not fit the schema (strict), and runs it once where no decision is taken. `statement` is
 * the parse of `source`, which must be a whole statement but for the `frame` before it.
 * @returns the engine's warnings, as sentences.
 */
export function requireValid(statement: PolicyJson, source: Source, frame = { before: '', after: '' }): string[] {
  const schema = schemaWith(schemaActions(statement, source))
  const text = frame.before + source.text + frame.after
  const answer = withTextEngine(source, (cedar) =>
    cedar.validate({ schema, policies: { staticPolicies: { rule: text } } }),
  )
  if (answer.type === 'failure') throw engineRefused(answer.errors, source, frame.before)
  if (answer.validationErrors.length > 0)
    throw engineRefused(
      answer.validationErrors.map(({ error }) => error),
      source,
      frame.before,
    )
  dryRun([statement], source)
  const warnings = [...answer.validationWarnings.map(({ error }) => error), ...answer.otherWarnings]
  return [...new Set(warnings.map(engineWarning))].sort()
}

/**
 * Which of many statements are valid without a warning: the engine is asked once for all that share a schema, and so many
 * cost a fraction of one after another. What it has anything to say about is left to `requireValid`.
 */
export function findValid(statements: readonly { parsed: PolicyJson; text: string }[]): boolean[] {
  const valid = statements.map(() => false)
  const groups = Map.groupBy(statements.keys(), (index) => groupOf(statements[index]?.parsed))
  for (const [group, indices] of groups) {
    const members = indices.flatMap((index) => {
      const { parsed, text } = statements[index] ?? {}
      return parsed === undefined || text === undefined ? [] : [{ index, parsed, text }]
    })
    if (group === undefined) continue
    const said = saidOf(members)
    for (const { index } of members) valid[index] = said !== undefined && !said.has(String(index))
  }
  return valid
}

/**
 * Statements of one group are validated with the actions of all: one that names its actions is asked about no other. Of those
 * that speak of any, only such as name none share a schema.
 */
function groupOf(statement: PolicyJson | undefined): 'any' | 'approve' | 'named' | undefined {
  if (statement === undefined) return undefined
  const { action } = scopeFromEngine(statement)
  if (action.ids.includes(approveAction)) return action.ids.length === 1 ? 'approve' : undefined
  const named = namedActions(statement)
  if (named.has(approveAction) || [...named].some((id) => id.startsWith('__'))) return undefined
  return action.scope !== 'any' ? 'named' : named.size === 0 ? 'any' : undefined
}

/** The statements of a group that the engine says something about; undefined where it cannot be told of which. */
function saidOf(members: readonly { index: number; parsed: PolicyJson; text: string }[]): Set<string> | undefined {
  const source: Source = { field: 'policy_text', text: '' }
  const actions = new Set(members.flatMap(({ parsed }) => [...schemaActions(parsed, source)]))
  const texts = Object.fromEntries(members.map(({ index, text }) => [index, text]))
  try {
    const answer = withTextEngine(source, (cedar) =>
      cedar.validate({ schema: schemaWith(actions), policies: { staticPolicies: texts } }),
    )
    if (answer.type === 'failure' || answer.otherWarnings.length > 0) return undefined
    dryRun(
      members.map(({ parsed }) => parsed),
      source,
    )
    return new Set([...answer.validationErrors, ...answer.validationWarnings].map(({ policyId }) => policyId))
  } catch (error) {
    if (error instanceof Problem) return undefined
    throw error
  }
}

/** Evaluates the conditions of statements of one rule set once, whatever their scope, so that what traps traps here. */
function dryRun(statements: readonly PolicyJson[], source: Source): void {
  const unscoped = statements.map(
    (statement): PolicyJson => ({
      ...statement,
      principal: { op: 'All' },
      action: { op: 'All' },
      resource: { op: 'All' },
    }),
  )
  const [first] = statements
  const isApproval = first !== undefined && !ruleSetsOf(scopeFromEngine(first).action).includes('ask')
  const question = isApproval
    ? approveOf(sampleApproval, sampleAccount)
    : askOf(sampleAsk, sampleAccount, unnamedAction)
  const call = { ...question, schema: schemaWith([unnamedAction, approveAction]), validateRequest: true }
  const staticPolicies = Object.fromEntries(unscoped.map((statement, index) => [`rule${index}`, statement]))
  withTextEngine(source, (cedar) => cedar.isAuthorized({ ...call, policies: { staticPolicies } }))
}

/** Whether a statement makes sense against the schema of the questions that it takes part in. */
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
  dryRun(statement, source)
  const warnings = [...answer.validationWarnings.map(({ error }) => error), ...answer.otherWarnings]
  return [...new Set(warnings.map(engineWarning))].sort()
}

/** Evaluates the conditions once, whatever the scope, so that what traps traps here. */
function dryRun(statement: PolicyJson, source: Source): void {
  const unscoped: PolicyJson = {
    ...statement,
    principal: { op: 'All' },
    action: { op: 'All' },
    resource: { op: 'All' },
  }
  const isApproval = !ruleSetsOf(scopeFromEngine(statement).action).includes('ask')
  const question = isApproval
    ? approveOf(sampleApproval, sampleAccount)
    : askOf(sampleAsk, sampleAccount, unnamedAction)
  const call = { ...question, schema: schemaWith([unnamedAction, approveAction]), validateRequest: true }
  withTextEngine(source, (cedar) => cedar.isAuthorized({ ...call, policies: { staticPolicies: { rule: unscoped } } }))
}

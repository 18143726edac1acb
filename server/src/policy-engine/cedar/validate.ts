/** Whether a statement fits the schema of the questions that it applies to. */
import { Problem } from '../../kernel/errors.ts'
import type { PolicyJson } from './engine.ts'
import { engineRefused, engineWarning, invalidPolicy, type Source } from './fault.ts'
import { withTextEngine } from './parse.ts'
import { approveOf, askOf } from './question.ts'
import { readingOf } from './reading.ts'
import { sampleAccount, sampleApproval, sampleQuestion } from './samples.ts'
import { approveAction, schemaWith, unnamedAction } from './schema.ts'
import { scopeFromEngine } from './scope.ts'

export type RuleSetName = 'ask' | 'approve'

/** The rule sets that a statement belongs to: `approve` only if its action scope names it; `any` covers requests only. */
export function ruleSetsOf(action: { scope: string; ids: string[] }): RuleSetName[] {
  const sets: RuleSetName[] = []
  if (action.scope === 'any' || action.ids.some((id) => id !== approveAction)) sets.push('ask')
  if (action.ids.includes(approveAction)) sets.push('approve')
  return sets
}

/** Every action id that the statement names, in its scope or its conditions. */
export function namedActions(statement: PolicyJson): Set<string> {
  return new Set(actionPlaces(statement).keys())
}

/** For each of those action ids, the places in which the statement names it. */
function actionPlaces(statement: PolicyJson): Map<string, Set<object>> {
  const places = new Map<string, Set<object>>()
  const add = (id: string, place: object) => places.set(id, (places.get(id) ?? new Set()).add(place))
  for (const id of scopeFromEngine(statement).action.ids) add(id, statement)
  const pending: { node: unknown; place: object }[] = [{ node: statement.conditions, place: statement.conditions }]
  for (let next = pending.pop(); next !== undefined; next = pending.pop()) {
    const { node, place } = next
    if (typeof node !== 'object' || node === null) continue
    const { __entity: entity } = node as { __entity?: { type: string; id: string } }
    if (entity?.type === 'Action') add(entity.id, place)
    // All members of one set share one place; every other action has its own place.
    const { Set: members } = node as { Set?: { Value?: unknown }[] }
    if (Array.isArray(members))
      for (const member of members) pending.push({ node: member.Value ?? member, place: node })
    else for (const child of Object.values(node)) pending.push({ node: child, place: {} })
  }
  return places
}

/** A statement may distinguish at most this many actions: it is type-checked once for each. */
const maxActionsApart = 16

/**
 * The actions that a statement is validated with. Actions in exactly the same places are equivalent for the type check, so one of
 * them is checked for all, and the `others` are only declared: each checked action costs a check of the whole statement against
 * every type of resource.
 */
function schemaActions(statement: PolicyJson, source: Source): { checked: Set<string>; others: Set<string> } {
  const { action } = scopeFromEngine(statement)
  const checked = new Set<string>(action.scope === 'any' ? [unnamedAction] : [])
  const others = new Set<string>()
  const apart: Set<object>[] = []
  for (const [id, standing] of actionPlaces(statement)) {
    if (id.startsWith('__'))
      throw invalidPolicy(`the action \`${id}\` begins with two underscores, which is reserved`, source)
    if (id === approveAction) {
      // Only the scope puts a rule into the rule set of `approve`; elsewhere `approve` is not an action.
      if (action.ids.includes(approveAction)) checked.add(id)
    } else if (apart.some((one) => sameMembers(one, standing))) others.add(id)
    else {
      apart.push(standing)
      checked.add(id)
    }
    if (apart.length > maxActionsApart)
      throw invalidPolicy(
        `the statement distinguishes more than ${maxActionsApart} actions`,
        source,
        undefined,
        'name them in the scope, or in one set (`action in […]`), or split it into two rules',
      )
  }
  return { checked, others }
}

function sameMembers(a: Set<object>, b: Set<object>): boolean {
  return a.size === b.size && [...a].every((member) => b.has(member))
}

/**
 * Refuses a statement that does not fit the schema (strict), and runs it once on the engine that takes no decisions. `statement` is
 * the parse of `source`, which must be a whole statement except for the `frame` before it.
 * @returns the engine's warnings, as sentences.
 */
export function requireValid(statement: PolicyJson, source: Source, frame = { before: '', after: '' }): string[] {
  const unreadable = whatCannotBeRead(statement)
  if (unreadable !== undefined) throw invalidPolicy(unreadable.message, source, undefined, unreadable.help)
  const { checked, others } = schemaActions(statement, source)
  const schema = schemaWith(checked, others)
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
 * Which of many statements are valid without a warning. The engine is called once for all statements of one rule set, which costs a
 * fraction of one call each. A statement with a fault or a warning is left to `requireValid`.
 */
export function findValid(statements: readonly PolicyJson[]): boolean[] {
  const valid = statements.map(() => false)
  const groups = Map.groupBy(statements.entries(), ([, statement]) => groupOf(statement))
  for (const group of ['ask', 'approve'] as const) {
    const members = groups.get(group) ?? []
    const faulty = members.length === 0 ? undefined : findFaulty(group, members)
    for (const [index] of members) valid[index] = faulty !== undefined && !faulty.has(String(index))
  }
  return valid
}

/** Why a statement reads what no question has, or what nobody can vouch for: the condition would be silently false, or true. */
function whatCannotBeRead(statement: PolicyJson): { message: string; help: string } | undefined {
  const { literals, reads_managers, reads_others_facts } = readingOf(statement)
  // Requests come and go, and a rule about one of them would outlive it.
  if (literals.some(({ type }) => type === 'access_request'))
    return {
      message: 'a rule cannot read a request by its id',
      help: 'a rule that names `approve` reads the request that is decided as `resource`',
    }
  if (reads_managers)
    return {
      message: 'a rule can only compare a manager, and not read their attributes, groups or roles',
      help: 'for example `resource.requester has manager && resource.requester.manager == principal`',
    }
  // What was written about others since the request cannot be left out: the facts about them are those of many requests.
  if (!reads_others_facts || !ruleSetsOf(scopeFromEngine(statement).action).includes('approve')) return undefined
  return {
    message:
      'a rule about deciding reads `department`, `title` and `manager` only of `principal` and `resource.requester`',
    help: 'name the people whom you mean, or a group, in place of what is known of them',
  }
}

/** The rule set of a statement that names actions only in its scope; undefined where its actions must be distinguished. */
function groupOf(statement: PolicyJson): RuleSetName | undefined {
  const { action } = scopeFromEngine(statement)
  if (namedActions({ ...statement, action: { op: 'All' } }).size > 0 || whatCannotBeRead(statement)) return undefined
  if (action.ids.includes(approveAction)) return action.ids.length === 1 ? 'approve' : undefined
  return action.ids.some((id) => id.startsWith('__')) ? undefined : 'ask'
}

/**
 * The statements of a group for which the engine reports a fault or a warning; undefined where a report names no statement. All
 * requestable actions have the same types, so one is checked for all.
 */
function findFaulty(group: RuleSetName, members: readonly (readonly [number, PolicyJson])[]): Set<string> | undefined {
  const source: Source = { field: 'policy_text', text: '' }
  const schema = schemaWith([group === 'ask' ? unnamedAction : approveAction])
  const staticPolicies = Object.fromEntries(
    members.map(([index, statement]): [number, PolicyJson] => [index, { ...statement, action: { op: 'All' } }]),
  )
  try {
    const answer = withTextEngine(source, (cedar) => cedar.validate({ schema, policies: { staticPolicies } }))
    if (answer.type === 'failure' || answer.otherWarnings.length > 0) return undefined
    dryRun(
      members.map(([, statement]) => statement),
      source,
    )
    return new Set([...answer.validationErrors, ...answer.validationWarnings].map(({ policyId }) => policyId))
  } catch (error) {
    if (error instanceof Problem) return undefined
    throw error
  }
}

/** Evaluates the conditions of a rule set's statements once, ignoring their scopes, so that a trap happens here and not later. */
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
    : askOf(sampleQuestion, sampleAccount, unnamedAction)
  const call = { ...question, schema: schemaWith([unnamedAction, approveAction]), validateRequest: true }
  const staticPolicies = Object.fromEntries(unscoped.map((statement, index) => [`rule${index}`, statement]))
  withTextEngine(source, (cedar) => cedar.isAuthorized({ ...call, policies: { staticPolicies } }))
}

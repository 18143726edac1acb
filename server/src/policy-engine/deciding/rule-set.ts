/** The rules of one tenant at one version, sorted into the subsets over which the questions are evaluated. */
import { exactJson, type PolicyJson } from '../cedar/engine.ts'
import { headOf } from '../cedar/guard.ts'
import { type Reading, readingOf, type StatementReading, unitedReadings } from '../cedar/reading.ts'
import { scopeFromEngine } from '../cedar/scope.ts'
import { namedActions, type RuleSetName, ruleSetsOf } from '../cedar/validate.ts'
import type { ApprovalMode, Effect } from '../rule.ts'
import { keyedScope } from './keyed-scope.ts'
import { narrowingOf } from './narrowing.ts'
import { combinationsOf, indexRules, type RuleIndex, type ScopedRule, type Sizes } from './rule-index.ts'
import { type RuleWeight, weightOf } from './rule-weight.ts'

/** A rule as decisions need it. */
export type PolicyRule = {
  id: string
  policy_id: string
  /** The policy's priority: the lower comes first. */
  priority: number
  ordinal: number
  effect: Effect
  policy_text: string
  notice: string | null
  audit_session: boolean
  approval_mode: ApprovalMode | null
  /** The user who saved the rule last. */
  saved_by: string | null
}

/**
 * The rules of a tenant's enabled policies. INVARIANT: a tenant's version always means the same set of rules; a draft has a version
 * of its own.
 */
export type RuleSet = {
  tenant_id: string
  version: string
  rules: readonly PolicyRule[]
  /** The operator suspended the tenant: whatever the rules say, nothing is permitted. Each suspension, and its end, is a version. */
  suspended?: boolean
}

/** The questions about requests, each over a subset of the rules. */
export type AskSubset = 'ordinary' | 'at_once' | 'emergency'

/**
 * The subsets of rules that are evaluated. `both` has the rules of `ordinary` and of `at_once`: one evaluation mostly answers both questions.
 */
export type Subset = 'both' | 'ordinary' | 'emergency' | 'approve'

/** Of each subset for requests, the questions whose rules it has. */
const askSubsets: readonly (readonly [Exclude<Subset, 'approve'>, readonly AskSubset[]])[] = [
  ['both', ['ordinary', 'at_once']],
  ['ordinary', ['ordinary']],
  ['emergency', ['emergency']],
]

/** A parsed rule text, the same object from version to version as long as the text does not change. */
export type ReadRule = ScopedRule & {
  text: string
  effect: Effect
  sets: readonly RuleSetName[]
  /** Every action that it names, in its scope or its conditions. */
  actions: readonly string[]
  reading: StatementReading
  weight: RuleWeight
}

/** Rules sorted for deciding. */
export type SortedRules = {
  byId: ReadonlyMap<string, PolicyRule>
  read: ReadonlyMap<string, ReadRule>
  subsets: Readonly<Record<Subset, RuleIndex<ReadRule>>>
  /** Actions that a rule names; any other is evaluated as `unnamedAction`. */
  namedActions: ReadonlySet<string>
  /** What the rules read beyond a question's own facts. */
  reading: Reading
}

/** The order that chooses the text of a decision: policy priority, rule ordinal, id. It decides nothing else. */
export function inOrder(a: PolicyRule, b: PolicyRule): number {
  return a.priority - b.priority || a.ordinal - b.ordinal || (a.id < b.id ? -1 : a.id > b.id ? 1 : 0)
}

const permitModes: Record<AskSubset, ApprovalMode[]> = {
  ordinary: ['require', 'auto'],
  at_once: ['auto'],
  emergency: ['break_glass'],
}

/** A plain forbid, one without a mode, is in all three. */
const forbidModes: Record<AskSubset, ApprovalMode[]> = {
  ordinary: [],
  at_once: ['auto'],
  emergency: ['break_glass'],
}

/** Whether a rule about requests takes part in the question. */
export function takesPart(rule: { effect: Effect; approval_mode: ApprovalMode | null }, question: AskSubset): boolean {
  if (rule.effect === 'permit') return permitModes[question].includes(rule.approval_mode ?? 'require')
  return rule.approval_mode === null || forbidModes[question].includes(rule.approval_mode)
}

let serials = 0

/** What a decision needs of a rule's text. `earlier` is the previous rule of the same id. */
function readRule({ id, policy_text: text }: PolicyRule, statement: PolicyJson, earlier?: ReadRule): ReadRule {
  serials += 1
  const scope = scopeFromEngine(statement)
  const keyed = keyedScope(scope)
  const narrowing = narrowingOf(statement.conditions)
  return {
    id,
    text,
    serial: serials,
    place: earlier?.place ?? serials,
    like: text.slice(headOf(text)),
    ...bodyOf(statement, scope.action.ids.length),
    effect: statement.effect,
    scope: keyed,
    narrowing,
    ways: combinationsOf(keyed, narrowing),
    sets: ruleSetsOf(scope.action),
    actions: [...namedActions(statement)],
    reading: readingOf(statement),
    weight: weightOf(text, statement),
  }
}

/** In characters: a rule whose statement is longer has no twins but by its text, so that memory stays bounded. */
const maxBody = 1_000

function bodyOf({ effect, principal, resource, conditions }: PolicyJson, actions: number): { body?: string } {
  if (actions < 2) return {}
  const body = exactJson.stringify({ effect, principal, resource, conditions })
  return body.length <= maxBody ? { body } : {}
}

/** The statement of a rule that lists several actions, for one of them. */
export function statementFor(body: string, action: string): PolicyJson {
  const statement = exactJson.parse(body) as Omit<PolicyJson, 'action'>
  return { ...statement, action: { op: '==', entity: { type: 'Action', id: action } } }
}

/**
 * Sorts the rules in pieces: it yields after each, so that other work can run. `parse` parses a rule whose text is not in `earlier`.
 * An error that it throws, or two rules with one id, makes the whole set undecidable.
 */
export function* sortRules(
  rules: readonly PolicyRule[],
  parse: (rule: PolicyRule) => PolicyJson,
  earlier: ReadonlyMap<string, ReadRule> = new Map(),
  sizes?: Sizes,
): Generator<undefined, SortedRules> {
  const byId = new Map<string, PolicyRule>()
  const read = new Map<string, ReadRule>()
  const named = new Set<string>()
  const subsets: Record<Subset, ReadRule[]> = { both: [], ordinary: [], emergency: [], approve: [] }
  for (const rule of rules) {
    if (byId.has(rule.id)) throw new Error(`two rules have the id \`${rule.id}\``)
    byId.set(rule.id, rule)
    const before = earlier.get(rule.id)
    const known = before?.text === rule.policy_text ? before : readRule(rule, parse(rule), before)
    read.set(rule.id, known)
    // The engine evaluates the text; a column that differs from it would put the rule into the wrong subset.
    if (known.effect !== rule.effect) throw new Error(`rule \`${rule.id}\` is a ${known.effect} by its text`)
    for (const id of known.actions) named.add(id)
    for (const subset of subsetsOf(rule, known)) subsets[subset].push(known)
    yield
  }
  const indexed = {
    both: yield* indexRules(subsets.both, sizes),
    ordinary: yield* indexRules(subsets.ordinary, sizes),
    emergency: yield* indexRules(subsets.emergency, sizes),
    approve: yield* indexRules(subsets.approve, sizes),
  }
  const reading = unitedReadings([...read.values()].map((rule) => rule.reading))
  return { byId, read, subsets: indexed, namedActions: named, reading }
}

function subsetsOf(rule: PolicyRule, { sets }: ReadRule): Subset[] {
  const asking = sets.includes('ask') ? askSubsets : []
  const taken = asking.filter(([, questions]) => questions.some((question) => takesPart(rule, question)))
  return [...taken.map(([subset]) => subset), ...(sets.includes('approve') ? (['approve'] as const) : [])]
}

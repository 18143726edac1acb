/** The rules of one tenant at one version, sorted into the subsets that the questions are asked over. */
import type { PolicyJson } from '../cedar/engine.ts'
import { scopeFromEngine } from '../cedar/scope.ts'
import { namedActions, type RuleSetName, ruleSetsOf } from '../cedar/validate.ts'
import type { ApprovalMode, Effect } from '../rule.ts'
import { combinationsOf, indexRules, keyedScope, type RuleIndex, type ScopedRule, type Sizes } from './rule-index.ts'

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
  /** Who saved the rule last. */
  saved_by: string | null
}

/**
 * The rules of a tenant's enabled policies. INVARIANT: a version of a tenant is one set of rules for ever; a draft goes by a
 * version of its own.
 */
export type RuleSet = { tenant_id: string; version: string; rules: readonly PolicyRule[] }

/** The subsets of rules that questions are asked over. */
export type Subset = AskSubset | 'approve'

const askSubsets = ['ordinary', 'at_once', 'emergency'] as const
/** Those of the questions about asking. */
export type AskSubset = (typeof askSubsets)[number]

/** A rule's text as it was read, the same object from version to version for as long as the text stays. */
export type ReadRule = ScopedRule & {
  id: string
  text: string
  effect: Effect
  sets: readonly RuleSetName[]
  /** Every action that it names, in its scope or its conditions. */
  actions: readonly string[]
}

/** Rules sorted for deciding. */
export type SortedRules = {
  byId: ReadonlyMap<string, PolicyRule>
  read: ReadonlyMap<string, ReadRule>
  subsets: Readonly<Record<Subset, RuleIndex<ReadRule>>>
  /** Actions that a rule names; any other is asked under `unnamedAction`. */
  namedActions: ReadonlySet<string>
}

/** Where the words come from first: policy priority, rule ordinal, id. It decides nothing else. */
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

/** Whether a rule about asking takes part in the question. */
export function takesPart(rule: { effect: Effect; approval_mode: ApprovalMode | null }, question: AskSubset): boolean {
  if (rule.effect === 'permit') return permitModes[question].includes(rule.approval_mode ?? 'require')
  return rule.approval_mode === null || forbidModes[question].includes(rule.approval_mode)
}

let serials = 0

/** What deciding needs of a rule's text. `earlier` is the rule of the same id before. */
function readRule({ id, policy_text: text }: PolicyRule, statement: PolicyJson, earlier?: ReadRule): ReadRule {
  serials += 1
  const scope = scopeFromEngine(statement)
  const keyed = keyedScope(scope)
  return {
    id,
    text,
    serial: serials,
    place: earlier?.place ?? serials,
    effect: statement.effect,
    scope: keyed,
    ways: combinationsOf(keyed),
    sets: ruleSetsOf(scope.action),
    actions: [...namedActions(statement)],
  }
}

/**
 * Sorts the rules, piece by piece: a pause after each, in which other work may go on. `parse` parses a rule whose text
 * `earlier` has not. What it throws, or two rules of one id, leaves the whole set undecidable.
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
  const subsets: Record<Subset, ReadRule[]> = { ordinary: [], at_once: [], emergency: [], approve: [] }
  for (const rule of rules) {
    if (byId.has(rule.id)) throw new Error(`two rules have the id \`${rule.id}\``)
    byId.set(rule.id, rule)
    const before = earlier.get(rule.id)
    const known = before?.text === rule.policy_text ? before : readRule(rule, parse(rule), before)
    read.set(rule.id, known)
    // The text is what the engine evaluates; a column that says otherwise would put the rule among the wrong ones.
    if (known.effect !== rule.effect) throw new Error(`rule \`${rule.id}\` is a ${known.effect} by its text`)
    for (const id of known.actions) named.add(id)
    for (const subset of subsetsOf(rule, known)) subsets[subset].push(known)
    yield
  }
  const indexed = {
    ordinary: yield* indexRules(subsets.ordinary, sizes),
    at_once: yield* indexRules(subsets.at_once, sizes),
    emergency: yield* indexRules(subsets.emergency, sizes),
    approve: yield* indexRules(subsets.approve, sizes),
  }
  return { byId, read, subsets: indexed, namedActions: named }
}

function subsetsOf(rule: PolicyRule, { sets }: ReadRule): Subset[] {
  const asking = sets.includes('ask') ? askSubsets : []
  return [
    ...asking.filter((question) => takesPart(rule, question)),
    ...(sets.includes('approve') ? (['approve'] as const) : []),
  ]
}

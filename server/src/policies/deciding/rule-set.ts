/** The rules of one tenant at one version, sorted into the subsets that the questions are asked over. */
import type { PolicyJson } from '../cedar/engine.ts'
import { scopeFromEngine } from '../cedar/scope.ts'
import { namedActions, ruleSetsOf } from '../cedar/validate.ts'
import type { ApprovalMode, Effect } from '../rule.ts'

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
export type Subset = 'ordinary' | 'at_once' | 'emergency' | 'approve'

/** Rules sorted for deciding. */
export type SortedRules = {
  byId: ReadonlyMap<string, PolicyRule>
  subsets: Readonly<Record<Subset, readonly PolicyRule[]>>
  /** Actions that a rule names; any other is asked under `unnamedAction`. */
  namedActions: ReadonlySet<string>
}

/** Where the words come from first: policy priority, rule ordinal, id. It decides nothing else. */
export function inOrder(a: PolicyRule, b: PolicyRule): number {
  return a.priority - b.priority || a.ordinal - b.ordinal || (a.id < b.id ? -1 : a.id > b.id ? 1 : 0)
}

const permitModes: Record<'ordinary' | 'at_once' | 'emergency', ApprovalMode[]> = {
  ordinary: ['require', 'auto'],
  at_once: ['auto'],
  emergency: ['break_glass'],
}

/** A plain forbid, one without a mode, is in all three. */
const forbidModes: Record<'ordinary' | 'at_once' | 'emergency', ApprovalMode[]> = {
  ordinary: [],
  at_once: ['auto'],
  emergency: ['break_glass'],
}

/** Whether a rule about asking takes part in the question. */
export function takesPart(
  rule: { effect: Effect; approval_mode: ApprovalMode | null },
  question: 'ordinary' | 'at_once' | 'emergency',
): boolean {
  if (rule.effect === 'permit') return permitModes[question].includes(rule.approval_mode ?? 'require')
  return rule.approval_mode === null || forbidModes[question].includes(rule.approval_mode)
}

/** Sorts the rules. `read` parses a rule; what it throws, or two rules of one id, leaves the whole set undecidable. */
export function sortRules(rules: readonly PolicyRule[], read: (rule: PolicyRule) => PolicyJson): SortedRules {
  const byId = new Map<string, PolicyRule>()
  const named = new Set<string>()
  const subsets: Record<Subset, PolicyRule[]> = { ordinary: [], at_once: [], emergency: [], approve: [] }
  for (const rule of rules) {
    if (byId.has(rule.id)) throw new Error(`two rules have the id \`${rule.id}\``)
    byId.set(rule.id, rule)
    const statement = read(rule)
    // The text is what the engine evaluates; a column that says otherwise would put the rule among the wrong ones.
    if (statement.effect !== rule.effect) throw new Error(`rule \`${rule.id}\` is a ${statement.effect} by its text`)
    for (const id of namedActions(statement)) named.add(id)
    const sets = ruleSetsOf(scopeFromEngine(statement).action)
    if (sets.includes('approve')) subsets.approve.push(rule)
    if (!sets.includes('ask')) continue
    for (const question of ['ordinary', 'at_once', 'emergency'] as const)
      if (takesPart(rule, question)) subsets[question].push(rule)
  }
  return { byId, subsets, namedActions: named }
}

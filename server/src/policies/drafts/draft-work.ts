/** The state to which a draft is applied, and the steps that apply it. */
import { createHash } from 'node:crypto'
import { type FaultyField, invalidInput, Problem } from '../../kernel/errors.ts'
import { type StatementFields, statementFromInput } from '../../policy-engine/cedar/statement.ts'
import type { PolicyRule } from '../../policy-engine/deciding/rule-set.ts'
import { maxOrdinal, type Rule, type RuleInput } from '../../policy-engine/rule.ts'
import { maxRules } from '../policy.ts'

type PresentPolicy = { id: string; priority: number; enabled: boolean }

/** The tenant's current policies and rules, under one snapshot. */
export type Present = {
  tenant_id: string
  version: string
  policies: readonly PresentPolicy[]
  /** The number of rules in all policies, including disabled ones. */
  rules: readonly PolicyRule[]
  /** The rules that the draft's changes name, as the API returns them. */
  in_full: ReadonlyMap<string, Rule>
}

export type DraftOf = {
  /** The draft's own id. INVARIANT: one id for one draft of one author, because the ids of new rules are derived from it. */
  id: string
  /** The user who would save it. */
  author: string | null
  /** The draft's place in the body: a JSON pointer, for the faults. */
  pointer: string
}

/** Policies and rules as the draft has changed them so far. */
export type Work = {
  of: DraftOf
  policies: Map<string, PresentPolicy>
  rules: Map<string, PolicyRule>
  /** The place in the draft of each rule that it contains, by the rule's id. */
  pointers: Map<string, string>
  /** The last ordinal of each policy that has rules. */
  lastOrdinals: Map<string, number>
}

export function emptyWork(of: DraftOf): Work {
  return { of, policies: new Map(), rules: new Map(), pointers: new Map(), lastOrdinals: new Map() }
}

/** Adds a policy of the draft; without a priority it comes last. Returns its id. */
export function putPolicy(
  work: Work,
  policy: { id?: string | undefined; enabled?: boolean | undefined; priority?: number | undefined },
  at: string,
): string {
  const { id = idAt(work.of.id, at), enabled = true } = policy
  let last = -1
  for (const other of work.policies.values()) {
    if (other.priority === policy.priority)
      throw fault(`${at}/priority`, 'is the priority of another policy of the draft')
    last = Math.max(last, other.priority)
  }
  work.policies.set(id, { id, enabled, priority: policy.priority ?? last + 1 })
  return id
}

/** Sets a rule of the draft; `at` is its place in the draft. 422 above the tenant's maximum of rules. */
export function putRule(work: Work, rule: PolicyRule, at?: string): void {
  if (work.rules.size >= maxRules && !work.rules.has(rule.id)) {
    throw new Problem(
      'unprocessable',
      `with the draft the tenant would have more than the maximum of ${maxRules} rules`,
    )
  }
  if (at !== undefined) work.pointers.set(rule.id, at)
  work.rules.set(rule.id, rule)
  work.lastOrdinals.set(rule.policy_id, Math.max(rule.ordinal, work.lastOrdinals.get(rule.policy_id) ?? -1))
}

/** The ordinal of a rule that comes last; several rules may share the largest ordinal. */
export function nextOrdinal(work: Work, policy_id: string): number {
  return Math.min((work.lastOrdinals.get(policy_id) ?? -1) + 1, maxOrdinal)
}

/** A new rule of the draft, checked like a rule to be saved. */
export function newRule(work: Work, { ordinal, ...words }: RuleInput, policy_id: string, at: string): PolicyRule {
  const { fields } = pointed(at, () => statementFromInput(words))
  const place = { policy_id, ordinal: ordinal ?? nextOrdinal(work, policy_id) }
  return { id: idAt(work.of.id, at), ...place, ...decidedBy(fields), priority: 0, saved_by: work.of.author }
}

/** The fields of a statement that decisions need. */
export function decidedBy(fields: StatementFields) {
  const { effect, policy_text, notice = null, audit_session, approval_mode = null } = fields
  return { effect, policy_text, notice, audit_session, approval_mode }
}

/** A deterministic id for this place in this draft. */
function idAt(draft_id: string, at: string): string {
  const hex = createHash('sha256').update(`${draft_id}\n${at}`).digest('hex')
  // A uuid of version 8: its bits are the application's own.
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-8${hex.slice(13, 16)}-8${hex.slice(17, 20)}-${hex.slice(20, 32)}`
}

export function fault(pointer: string, why: string): Problem {
  return invalidInput([{ pointer, why }])
}

/** Runs `read`; the faults that it throws for one rule are rethrown with their place in the draft. */
export function pointed<Result>(at: string, read: () => Result): Result {
  try {
    return read()
  } catch (error) {
    if (!(error instanceof Problem)) throw error
    const { code, message, details = {} } = error
    if (code === 'invalid_policy')
      throw new Problem(code, `\`${at}\`: ${message}`, { details: { pointer: at, ...details } })
    const fields = (details.fields ?? []) as FaultyField[]
    throw invalidInput(fields.map(({ pointer, why }) => ({ pointer: `${at}${pointer}`, why })))
  }
}

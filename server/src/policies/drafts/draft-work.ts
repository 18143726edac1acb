/** What a draft is applied to, and the few steps that it is applied by. */
import { createHash } from 'node:crypto'
import { type FaultyField, invalidInput, Problem } from '../../kernel/errors.ts'
import { type StatementFields, statementFromInput } from '../../policy-engine/cedar/statement.ts'
import type { PolicyRule } from '../../policy-engine/deciding/rule-set.ts'
import { maxOrdinal, type Rule, type RuleInput } from '../../policy-engine/rule.ts'
import { maxRules } from '../policy.ts'

type PresentPolicy = { id: string; priority: number; enabled: boolean }

/** The tenant's policies and rules as they are, under one snapshot. */
export type Present = {
  tenant_id: string
  version: string
  policies: readonly PresentPolicy[]
  /** Of all policies, disabled ones too. */
  rules: readonly PolicyRule[]
  /** The rules that the draft's changes speak of, as they are answered. */
  in_full: ReadonlyMap<string, Rule>
}

export type DraftOf = {
  /** The draft's own id. INVARIANT: one id, one draft of one author: the ids of new rules are made from it. */
  id: string
  /** Who would save it. */
  author: string | null
  /** Where the draft stands in what its author sent: a JSON pointer, for the faults. */
  pointer: string
}

/** Policies and rules as the draft has made them so far. */
export type Work = {
  of: DraftOf
  policies: Map<string, PresentPolicy>
  rules: Map<string, PolicyRule>
  /** Where in the draft a rule stands, by the id of each that it brings. */
  pointers: Map<string, string>
  /** The last ordinal of each policy that has rules. */
  lastOrdinals: Map<string, number>
}

export function emptyWork(of: DraftOf): Work {
  return { of, policies: new Map(), rules: new Map(), pointers: new Map(), lastOrdinals: new Map() }
}

/** A policy of the draft; without a priority it comes last. Answers its id. */
export function putPolicy(
  work: Work,
  policy: { id?: string | undefined; enabled?: boolean | undefined; priority?: number | undefined },
  at: string,
): string {
  const { id = idAt(work.of.id, at), enabled = true } = policy
  let last = -1
  for (const other of work.policies.values()) {
    if (other.priority === policy.priority) throw fault(`${at}/priority`, 'is that of another policy of the draft')
    last = Math.max(last, other.priority)
  }
  work.policies.set(id, { id, enabled, priority: policy.priority ?? last + 1 })
  return id
}

/** A rule of the draft as it will be; `at` is where the draft says so. 422 where a tenant may have no more. */
export function putRule(work: Work, rule: PolicyRule, at?: string): void {
  if (work.rules.size >= maxRules && !work.rules.has(rule.id)) {
    throw new Problem('unprocessable', `by the draft the tenant would have more than the ${maxRules} rules it may have`)
  }
  if (at !== undefined) work.pointers.set(rule.id, at)
  work.rules.set(rule.id, rule)
  work.lastOrdinals.set(rule.policy_id, Math.max(rule.ordinal, work.lastOrdinals.get(rule.policy_id) ?? -1))
}

/** The ordinal of a rule that comes last; the largest there is may be shared. */
export function nextOrdinal(work: Work, policy_id: string): number {
  return Math.min((work.lastOrdinals.get(policy_id) ?? -1) + 1, maxOrdinal)
}

/** A new rule of the draft, read as one to be saved is. */
export function newRule(work: Work, { ordinal, ...words }: RuleInput, policy_id: string, at: string): PolicyRule {
  const { fields } = pointed(at, () => statementFromInput(words))
  const place = { policy_id, ordinal: ordinal ?? nextOrdinal(work, policy_id) }
  return { id: idAt(work.of.id, at), ...place, ...decidedBy(fields), priority: 0, saved_by: work.of.author }
}

/** Of a statement's fields, those that decisions need. */
export function decidedBy(fields: StatementFields) {
  const { effect, policy_text, notice = null, audit_session, approval_mode = null } = fields
  return { effect, policy_text, notice, audit_session, approval_mode }
}

/** An id for what stands at that place of that draft, the same whenever it is asked for. */
function idAt(draft_id: string, at: string): string {
  const hex = createHash('sha256').update(`${draft_id}\n${at}`).digest('hex')
  // A uuid of version 8: one made in a way of its maker's.
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-8${hex.slice(13, 16)}-8${hex.slice(17, 20)}-${hex.slice(20, 32)}`
}

export function fault(pointer: string, why: string): Problem {
  return invalidInput([{ pointer, why }])
}

/** Runs `read`; the faults of one rule that it throws come back with their place in the draft. */
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

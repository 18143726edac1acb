import { readStatement } from '../../src/policy-engine/cedar/statement.ts'
import type { PolicyRule, RuleSet } from '../../src/policy-engine/deciding/rule-set.ts'

/** A rule from its text: the annotations give the columns that `columns` does not. */
export function sampleRule(id: string, policyText: string, columns: Partial<PolicyRule> = {}): PolicyRule {
  const { effect, notice = null, audit_session, approval_mode = null } = readStatement(policyText)
  const statement = { effect, policy_text: policyText, notice, audit_session, approval_mode }
  return { id, policy_id: 'policy', priority: 1, ordinal: 1, saved_by: 'editor', ...statement, ...columns }
}

let versions = 0

/** A rule set with a new version. */
export function sampleRuleSet(rules: readonly PolicyRule[]): RuleSet {
  versions += 1
  return { tenant_id: 'tenant', version: `sample-${versions}`, rules }
}

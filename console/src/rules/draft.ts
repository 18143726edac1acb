import type { RuleFields } from './templates.ts'

/** The name of the policy that holds the rules of templates. */
export const policyName = 'Access'

/** The draft with one more rule; without the policy, with the policy too. */
export function draftOf(policy: { id: string } | null, rule: RuleFields) {
  return policy === null
    ? { changes: [{ create_policy: { name: policyName, rules: [rule] } }] }
    : { changes: [{ create_rule: { policy_id: policy.id, rule } }] }
}

export type Draft = ReturnType<typeof draftOf>

import type { RuleInput } from '../policy-engine/rule.ts'

/** The policy that every new tenant starts with; an ordinary one, to be edited or deleted. */
export const startingPolicy = {
  name: 'Approvers',
  description: 'Every user with the scope requests:approve may approve and deny requests.',
} as const

/** Its only rule. No request is permitted until the tenant adds a rule for it. */
export const startingRule = {
  effect: 'permit',
  action_scope_type: 'eq',
  action_ids: ['approve'],
  conditions: 'when { principal.scopes.contains("requests:approve") }',
} satisfies RuleInput

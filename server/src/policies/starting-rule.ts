import type { RuleInput } from '../policy-engine/rule.ts'

/** The policy that every new tenant starts with; an ordinary one, to be edited or deleted. */
export const startingPolicy = {
  name: 'Approvers',
  description: 'Whoever holds the scope requests:approve may approve and deny requests.',
} as const

/** Its one rule. Nothing is permitted to be asked for until a tenant says so. */
export const startingRule = {
  effect: 'permit',
  action_scope_type: 'eq',
  action_ids: ['approve'],
  conditions: 'when { principal.scopes.contains("requests:approve") }',
} satisfies RuleInput

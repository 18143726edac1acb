/** The fields of a rule that make its statement; a `policy_text` beside them is the statement. */
const structured: ReadonlySet<string> = new Set([
  'effect',
  'principal_scope_type',
  'principal_entity_type',
  'principal_entity_id',
  'action_scope_type',
  'action_ids',
  'resource_scope_type',
  'resource_entity_type',
  'resource_entity_id',
  'conditions',
])

/**
 * The sent rule, or draft of rules, without the structured fields that stand beside a `policy_text`: they are ignored, valid or not.
 * The fields that count beside a text stay, and so does an unknown field.
 */
export function withoutIgnored(sent: unknown): unknown {
  if (Array.isArray(sent)) return sent.map(withoutIgnored)
  if (typeof sent !== 'object' || sent === null) return sent
  const isText = 'policy_text' in sent && typeof sent.policy_text === 'string'
  const counted = Object.entries(sent).filter(([name]) => !(isText && structured.has(name)))
  return Object.fromEntries(counted.map(([name, value]) => [name, withoutIgnored(value)]))
}

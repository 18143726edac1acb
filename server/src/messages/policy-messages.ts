import { named, whenFact } from './access-words.ts'
import type { RecordEvent, RecordFacts } from './event-facts.ts'
import type { Draft, Fact, Template } from './message.ts'
import { changed, countIn, did, listIn, rolesMoved, textIn } from './record-words.ts'

type PolicyEvent = Extract<RecordEvent, `policy.${string}` | `action.${string}` | `role.${string}`>

/** Messages about rules, about what actions mean, and about the permissions of roles. */
export const policyMessages: Record<PolicyEvent, Template<RecordFacts>> = {
  'policy.created': did('policy', 'created {it}'),
  'policy.updated': (facts) => {
    const change = changes[textIn(facts.data, 'change') ?? ''] ?? policyChanged
    return change(facts)
  },
  'policy.deleted': did('policy', 'deleted {it}', () => ({ next: 'Its rules are gone with it.' })),
  'policy.reordered': (facts) => (facts.subject_type === 'policy' ? rulesReordered(facts) : policiesReordered(facts)),
  'policy.cases_changed': (facts) => ({
    title: `${facts.actor} changed the policy cases`,
    facts: [['Cases', countIn(facts.data, 'count')], ['Required', countIn(facts.data, 'required')], whenFact(facts)],
  }),
  'action.described': (facts) => ({
    title: `${facts.actor} described the action ${named(facts.subject_id)}`,
    facts: [...descriptions(facts), whenFact(facts)],
  }),
  'action.description_removed': (facts) => ({
    title: `${facts.actor} removed the description of the action ${named(facts.subject_id)}`,
    facts: [...descriptions(facts), whenFact(facts)],
  }),
  'role.created': did('role', 'created {it}', ({ data }) => ({ facts: [['Scopes', listIn(data, 'scopes')]] })),
  'role.updated': did('role', 'changed {it}', (facts) => ({
    facts: [
      ...changed(facts).facts,
      ['Scopes added', listIn(facts.data, 'scopes_added')],
      ['Scopes removed', listIn(facts.data, 'scopes_removed')],
    ],
  })),
  'role.deleted': did('role', 'deleted {it}'),
  'role.assigned': did('user', 'changed the roles of {it}', rolesMoved),
}

function descriptions({ data }: RecordFacts): Fact[] {
  return [
    ['Before', textIn(data, 'old')],
    ['Now', textIn(data, 'new')],
  ]
}

const policyChanged = did('policy', 'changed {it}', changed)
const ruleFact = ({ data }: RecordFacts) => ({ facts: [['Rule', textIn(data, 'rule_id')] as const] })

/** The messages of `policy.updated`, by its `change`. */
const changes: Readonly<Record<string, Template<RecordFacts>>> = {
  policy_changed: policyChanged,
  rule_created: did('policy', 'added a rule to {it}', ruleFact),
  rule_changed: did('policy', 'changed a rule of {it}', ruleFact),
  rule_deleted: did('policy', 'deleted a rule of {it}', ruleFact),
  rules_imported: did('policy', 'imported the rules of {it}', ({ data }) => ({
    facts: [
      ['Added', countOf(data.added)],
      ['Changed', countOf(data.changed)],
      ['Removed', countOf(data.removed)],
    ],
  })),
}

const rulesReordered = did('policy', 'put the rules of {it} in another order')

function policiesReordered(facts: RecordFacts): Draft {
  return {
    title: `${facts.actor} put policies in another order`,
    facts: [['Policies', countIn(facts.data, 'count')], whenFact(facts)],
  }
}

function countOf(change: unknown): string | null {
  return typeof change === 'object' && change !== null ? countIn({ ...change }, 'count') : null
}

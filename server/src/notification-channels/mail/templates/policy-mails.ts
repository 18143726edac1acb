import { whenFact } from './access-words.ts'
import { changed, countIn, did, listIn, rolesMoved, textIn } from './record-words.ts'
import type { Fact, MailContent, MailedEvent, RecordFacts, Template } from './template.ts'

type PolicyMail = Extract<MailedEvent, `policy.${string}` | `role.${string}`>

/** What is said of the rules, and of what roles permit. */
export const policyMails: Record<PolicyMail, Template<RecordFacts>> = {
  'policy.created': did('policy', 'created {it}'),
  'policy.updated': (facts) => {
    const change = changes[textIn(facts.data, 'change') ?? ''] ?? policyChanged
    return change(facts)
  },
  'policy.deleted': did('policy', 'deleted {it}', () => ({ next: 'Its rules are gone with it.' })),
  'policy.reordered': (facts) => (facts.subject_type === 'policy' ? rulesReordered(facts) : policiesReordered(facts)),
  'policy.cases_changed': (facts) => {
    const sentence = `${facts.actor} changed the policy cases`
    const counts: Fact[] = [
      ['Cases', countIn(facts.data, 'count')],
      ['Required', countIn(facts.data, 'required')],
    ]
    return { subject: sentence, headline: `${sentence}.`, facts: [...counts, whenFact(facts)] }
  },
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

const policyChanged = did('policy', 'changed {it}', changed)
const ruleFact = ({ data }: RecordFacts) => ({ facts: [['Rule', textIn(data, 'rule_id')] as const] })

/** What `policy.updated` may be about. */
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

function policiesReordered(facts: RecordFacts): MailContent {
  const sentence = `${facts.actor} put policies in another order`
  const fact: Fact = ['Policies', countIn(facts.data, 'count')]
  return { subject: sentence, headline: `${sentence}.`, facts: [fact, whenFact(facts)] }
}

function countOf(told: unknown): string | null {
  return typeof told === 'object' && told !== null ? countIn({ ...told }, 'count') : null
}

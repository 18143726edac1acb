import type { Actor } from '../kernel/context.ts'
import { moment } from '../kernel/plain-words.ts'
import { named, whenFact } from './access-words.ts'
import type { RecordFacts } from './event-facts.ts'
import type { Draft, Fact, Template } from './message.ts'

type Data = Record<string, unknown>
type More = Pick<Draft, 'facts' | 'next'>

/**
 * A message that an actor changed a record: `Ada Lovelace created the policy Engineers.` `more`: further facts, and what follows.
 * @param deed with `{it}` in place of the record
 */
export function did(
  noun: string,
  deed: string,
  more: (facts: RecordFacts) => More = () => ({}),
): Template<RecordFacts> {
  return (facts) => {
    const it = `the ${noun} ${nameOf(facts)}`
    const { facts: further = [], next } = more(facts)
    return {
      title: `${facts.actor} ${deed.replace('{it}', () => it)}`,
      facts: [...recordFacts(noun, facts), ...further, whenFact(facts)],
      next,
    }
  }
}

/** The actor as the start of a sentence. A key is named, because it may be in other hands than its user's. */
export function actorOf(kind: Actor['kind'], user: string): string {
  return kind === 'api_key' ? `An API key of ${user}` : user
}

/** The name of a user or another record; its id when it has no name any more. */
export function nameOf({ subject_type, name, subject_id }: RecordFacts): string {
  return name === null || subject_type === 'user' ? (name ?? subject_id) : named(name)
}

/** The record and its id. */
export function recordFacts(noun: string, { name, subject_id }: RecordFacts): Fact[] {
  return [
    [noun.charAt(0).toUpperCase() + noun.slice(1), name],
    ['Id', subject_id],
  ]
}

/** The changed fields, and the new value of those that switch something. */
export function changed({ data }: RecordFacts): { facts: Fact[] } {
  const fields = textsOf(data, 'fields')
  return {
    facts: [
      ['Changed', fields.join(', ')],
      ['Enabled', fields.includes('enabled') ? yesOrNo(data.enabled) : null],
      ['Members notified', fields.includes('members_notified') ? yesOrNo(data.members_notified) : null],
    ],
  }
}

/** The roles that were given and removed. */
export function rolesMoved(facts: RecordFacts): More {
  return {
    facts: [
      ['Given', rolesIn(facts, 'added')],
      ['Taken', rolesIn(facts, 'removed')],
    ],
  }
}

/** The roles of a field, by name when known; null when there are none. */
export function rolesIn({ data, roles }: RecordFacts, field: string): string | null {
  const names = textsOf(data, field).map((id) => (Object.hasOwn(roles, id) ? roles[id] : undefined) ?? id)
  return names.length === 0 ? null : names.join(', ')
}

/** A user named by the event, by name when known. */
export function personIn({ data, people }: RecordFacts, field: string): string {
  const id = textIn(data, field) ?? 'somebody'
  return people[id] ?? id
}

export function textIn(data: Data, field: string): string | null {
  const value = data[field]
  return typeof value === 'string' ? value : null
}

/** A number as text; null when there is none. */
export function countIn(data: Data, field: string): string | null {
  const value = data[field]
  return typeof value === 'number' ? String(value) : null
}

/** A list of texts; empty when there is none. */
function textsOf(data: Data, field: string): string[] {
  const value = data[field]
  return Array.isArray(value) ? value.filter((text) => typeof text === 'string') : []
}

/** A list of texts as one text; null when there is none. */
export function listIn(data: Data, field: string): string | null {
  const texts = textsOf(data, field)
  return texts.length === 0 ? null : texts.join(', ')
}

export function momentIn({ data, zone }: RecordFacts, field: string): string | null {
  const iso = textIn(data, field)
  return iso === null ? null : moment(iso, zone)
}

export function yesOrNo(value: unknown): string | null {
  return typeof value === 'boolean' ? (value ? 'yes' : 'no') : null
}

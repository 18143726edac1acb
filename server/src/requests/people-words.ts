/** The groups, roles and people that rules name, and the words by which they are shown. */
import { type EntityReference, entityKey } from '../policy-engine/cedar/reading.ts'
import type { PolicyRule } from '../policy-engine/deciding/rule-set.ts'

/** What a group, a role or a person is called; a person's address is shown too, because two may have one name. */
export type PersonName = EntityReference & { name: string; email: string | null }

const literal = /\b(Group|Role|User)\s*::\s*("(?:[^"\\]|\\.)*")/g

/** Every group, role and person that the rules name, each once; an id that is not written as JSON writes it is left out. */
export function namedPeople(rules: readonly Pick<PolicyRule, 'policy_text'>[]): EntityReference[] {
  const found = new Map<string, EntityReference>()
  for (const { policy_text } of rules)
    for (const [, type = '', quoted = ''] of policy_text.matchAll(literal)) {
      const id = idIn(quoted)
      if (id !== undefined) found.set(entityKey({ type, id }), { type, id })
    }
  return [...found.values()]
}

function idIn(quoted: string): string | undefined {
  try {
    return JSON.parse(quoted) as string
  } catch {
    return undefined
  }
}

/** The scope that a caller needs to be shown the names of this type. A person's name is shown to everyone who is shown the person. */
const readScopes: Readonly<Record<string, string>> = { Group: 'groups:read', Role: 'roles:read' }

/** The words for each, by `entityKey`. */
export function peopleWords(
  named: readonly EntityReference[],
  known: readonly PersonName[],
  scopes: ReadonlySet<string>,
): ReadonlyMap<string, string> {
  const byKey = new Map(known.map((one) => [entityKey(one), one]))
  const words = named.flatMap((one): [string, string][] => {
    const key = entityKey(one)
    const wordsOfOne = wordsFor(one, byKey.get(key), scopes)
    return wordsOfOne === undefined ? [] : [[key, wordsOfOne]]
  })
  return new Map(words)
}

/** Undefined: of an entity that the tenant does not have, only the id is known. */
function wordsFor({ type }: EntityReference, known: PersonName | undefined, scopes: ReadonlySet<string>) {
  const scope = readScopes[type]
  if (scope !== undefined && !scopes.has(scope)) return type === 'Group' ? 'members of a group' : 'holders of a role'
  if (known === undefined) return undefined
  if (type === 'Group') return `members of the group “${known.name}”`
  if (type === 'Role') return `holders of the role “${known.name}”`
  return known.email !== null && scopes.has('users:read') ? `${known.name} (${known.email})` : known.name
}

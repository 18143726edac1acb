import { enterpriseSchema, userKind } from '../../src/scim/attribute.ts'
import { patched, readPatch } from '../../src/scim/patch.ts'
import type { Resource } from '../../src/scim/read-resource.ts'
import { scimOutcome } from './scim-fault.ts'

export const workOfAda = { value: 'ada@example.com', type: 'work', primary: true }
export const homeOfAda = { value: 'ada@home.example', type: 'home' }
export const bossOfAda = { manager: { value: 'boss' } }

/** A user as a directory said it, for tests of patches. */
export const adaBefore: Resource = {
  userName: 'ada',
  active: true,
  title: 'Engineer',
  name: { givenName: 'Ada', familyName: 'Lovelace', middleName: 'K' },
  emails: [workOfAda, homeOfAda],
  [enterpriseSchema]: { department: 'Ops', ...bossOfAda },
}

/** The user after the body of a patch, or the refusal. */
export const patchedAda = (body: unknown, from: Resource = adaBefore) =>
  scimOutcome(() => patched(userKind, from, readPatch(userKind, body)))

/** What differs after the operations: null where it is gone. Or the refusal. */
export function differences(operations: unknown, from: Resource = adaBefore): unknown {
  const result = patchedAda({ Operations: operations }, from)
  if (typeof result === 'string') return result
  const names = new Set([...Object.keys(from), ...Object.keys(result)])
  const changed = [...names].filter((name) => JSON.stringify(from[name]) !== JSON.stringify(result[name]))
  return Object.fromEntries(changed.map((name) => [name, result[name] ?? null]))
}

import type { StoreUser } from '../../aws/aws.ts'
import { isObject } from '../../kernel/is-object.ts'
import { TargetError } from '../driver.ts'
import type { DirectoryPage, PersonRead, ReadDirectory } from '../target-directory.ts'
import type { Center } from './center.ts'
import { listGroups, listUsers } from './directory-lists.ts'
import { openReader, type Reader } from './inventory-reading.ts'

/** AWS's name of the enterprise extension: who asks for it gets department and manager beside the rest. */
const enterprise = 'aws:identitystore:enterprise'
const enterpriseOfScim = 'urn:ietf:params:scim:schemas:extension:enterprise:2.0:User'

/**
 * Reads the users and groups of an instance's identity store. AWS gives no count of them. Its tokens alone lead from page to page, so a person who is
 * in the store from the beginning to the end of a reading is read as far as AWS's own lists are whole.
 */
export function directoryReader(center: Center): ReadDirectory {
  return ({ groups }, signal) => readDirectory(openReader(center, signal), groups)
}

async function* readDirectory(reader: Reader, withGroups: boolean): AsyncGenerator<DirectoryPage> {
  const known = new Set<string>()
  for await (const users of listUsers(reader, [enterprise])) {
    const people = new Map(users.map(personOf).map((person) => [person.id, person]))
    const isNew = [...people.values()].filter(({ id }) => !known.has(id))
    for (const { id } of isNew) known.add(id)
    if (isNew.length === 0 && users.length > 0)
      throw new TargetError('transient', 'AWS repeats a page of users; try again later')
    yield { people: isNew }
  }
  if (!withGroups) return
  for await (const groups of listGroups(reader)) yield { groups }
}

/** @throws TargetError for a user who cannot be told from others: left out, they would be deactivated */
function personOf(user: StoreUser): PersonRead {
  const { UserId, UserName, DisplayName, Title, UserStatus, Name, Emails = [], Extensions } = user
  if (UserId === undefined) throw new TargetError('transient', 'AWS listed a user without `UserId`; try again later')
  const { GivenName, FamilyName, Formatted } = Name ?? {}
  const resource = {
    userName: UserName,
    name: objectOf({ givenName: GivenName, familyName: FamilyName, formatted: Formatted }),
    displayName: DisplayName,
    title: Title,
    active: UserStatus !== 'DISABLED',
    emails: emailsOf(Emails),
    [enterpriseOfScim]: objectOf(inSpellingOfScim(Extensions?.[enterprise])),
  }
  return { id: UserId, resource: objectOf(resource) ?? {} }
}

/** In an order of their own, since AWS promises none. */
function emailsOf(emails: NonNullable<StoreUser['Emails']>) {
  const found = emails.flatMap(({ Value, Type, Primary }) => {
    const email = objectOf({ value: Value, type: Type, primary: Primary })
    return email === undefined ? [] : [email]
  })
  const inOrder = found
    .map((email) => [JSON.stringify(email), email] as const)
    .sort(([one], [other]) => (one < other ? -1 : Number(one > other)))
  return inOrder.length === 0 ? undefined : inOrder.map(([, email]) => email)
}

/** The object without what is not there; undefined when nothing is. */
function objectOf(fields: Readonly<Record<string, unknown>>): Record<string, unknown> | undefined {
  const kept = Object.entries(fields).filter(([, value]) => value !== undefined && value !== null && value !== '')
  return kept.length === 0 ? undefined : Object.fromEntries(kept)
}

/** Names with a small first letter: AWS's documentation does not say how it spells those of an extension, and its users have met both. */
function inSpellingOfScim(value: unknown): Record<string, unknown> {
  if (!isObject(value)) return {}
  const entries = Object.entries(value).map(([name, inner]: [string, unknown]) => {
    return [name.charAt(0).toLowerCase() + name.slice(1), isObject(inner) ? objectOf(inSpellingOfScim(inner)) : inner]
  })
  return Object.fromEntries(entries) as Record<string, unknown>
}

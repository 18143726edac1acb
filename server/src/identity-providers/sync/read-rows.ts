import { ScimProblem } from '../../http/scim-problem.ts'
import { storableText } from '../../kernel/foreign-text.ts'
import { TargetError } from '../../provisioners/driver.ts'
import type { DirectoryPage, GroupRead, PersonRead } from '../../provisioners/target-directory.ts'
import { userKind } from '../../scim/attribute.ts'
import { groupContentOf } from '../../scim/groups/group-change.ts'
import { type Person, personOf } from '../../scim/person.ts'
import { type Resource, readResource } from '../../scim/read-resource.ts'
import { comparedKeys } from '../../scim/users/holder.ts'

/** A person as a run keeps them. `message`: why the directory's data cannot be used; then there is no resource. */
export type PersonRow = {
  source_id: string
  user_name: string | null
  user_name_key: string | null
  name: string | null
  email: string | null
  email_keys: readonly string[]
  mail_domain: string | null
  active: boolean
  resource: Resource | null
  message: string | null
}

export type GroupRow = { source_id: string; name: string; message: string | null }

export type MemberRow = { group_source_id: string; person_source_id: string }

export type ReadRows = { people: PersonRow[]; groups: GroupRow[]; members: MemberRow[] }

/** As in the tables. */
const maxIdLength = 600

/** What a page says, as rows. @throws TargetError for an id that no directory has */
export function rowsOf({ people = [], groups = [] }: DirectoryPage): ReadRows {
  return {
    people: people.map(personRow),
    groups: [...new Map(groups.map((group) => [group.id, groupRow(group)])).values()],
    members: groups.flatMap(({ id, member_ids }) =>
      // An id that no person can have is nobody's.
      [...new Set(member_ids)].filter(isId).map((person_source_id) => ({ group_source_id: id, person_source_id })),
    ),
  }
}

function personRow({ id, resource }: PersonRead): PersonRow {
  const source_id = requireId('person', id)
  const sent = storable(resource) as Resource
  try {
    const read = readResource(userKind, { ...sent, externalId: id })
    return { source_id, ...shownOf(personOf(read)), resource: read, message: null }
  } catch (error) {
    if (!(error instanceof ScimProblem)) throw error
    const { userName, active } = sent
    const user_name = typeof userName === 'string' ? cut(userName) : null
    const nothing = { user_name_key: null, name: null, email: null, email_keys: [], mail_domain: null, resource: null }
    return { source_id, user_name, ...nothing, active: !isFalse(active), message: error.message }
  }
}

function shownOf({ user_name, name, email, active }: Person) {
  const { name_key: user_name_key, ...keys } = comparedKeys({ user_name, email })
  return { user_name, user_name_key, name, email, ...keys, active }
}

function groupRow({ id, name: sent }: GroupRead): GroupRow {
  const source_id = requireId('group', id)
  const name = storableText(sent)
  try {
    groupContentOf({ displayName: name, externalId: id })
    return { source_id, name, message: null }
  } catch (error) {
    if (!(error instanceof ScimProblem)) throw error
    return { source_id, name: cut(name), message: error.message }
  }
}

/** As SCIM's tolerant reading has it. */
const isFalse = (value: unknown): boolean => value === false || (typeof value === 'string' && /^false$/i.test(value))

/** The same without what the database cannot store in a text: one odd character must not keep all others from being read. */
function storable(value: unknown): unknown {
  if (typeof value === 'string') return storableText(value)
  if (Array.isArray(value)) return value.map(storable)
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(Object.entries(value).map(([name, inner]) => [storableText(name), storable(inner)]))
}

const cut = (text: string): string => text.slice(0, maxIdLength).toWellFormed()

function isId(id: string): boolean {
  return id.length >= 1 && id.length <= maxIdLength && id === storableText(id)
}

function requireId(kind: 'person' | 'group', id: string): string {
  if (isId(id)) return id
  const which = `\`${storableText(id).slice(0, 50)}\``
  const rule = `an id has 1 to ${maxIdLength} characters, none of them NUL`
  throw new TargetError(
    'permanent',
    `the ${kind} ${which} has an id that cannot be kept: ${rule}; choose another attribute`,
  )
}

/** Some of these, so that no statement is too large. */
export function* chunksOf({ people, groups, members }: ReadRows, max: number): Generator<ReadRows> {
  const length = Math.max(people.length, groups.length, members.length)
  for (let from = 0; from < length; from += max) {
    const [first, last] = [from, from + max]
    yield {
      people: people.slice(first, last),
      // A member's group is there before the member.
      groups: first === 0 ? groups : [],
      members: members.slice(first, last),
    }
  }
}

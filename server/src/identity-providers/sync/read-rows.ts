import { ScimProblem } from '../../http/scim-problem.ts'
import { addressKeys, mailDomainOf } from '../../kernel/email-address.ts'
import { TargetError } from '../../provisioners/driver.ts'
import type { DirectoryPage, GroupRead, PersonRead } from '../../provisioners/target-directory.ts'
import { userKind } from '../../scim/attribute.ts'
import { groupContentOf } from '../../scim/groups/group-change.ts'
import { type Person, personOf } from '../../scim/person.ts'
import { type Resource, readResource } from '../../scim/read-resource.ts'

/** A person as a run keeps them. `message`: why the directory's data cannot be used; then there is no resource. */
export type PersonRow = {
  source_id: string
  user_name: string | null
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
      [...new Set(member_ids)].map((person_source_id) => ({ group_source_id: id, person_source_id })),
    ),
  }
}

function personRow({ id, resource: sent }: PersonRead): PersonRow {
  const source_id = requireId(id)
  try {
    const resource = readResource(userKind, { ...sent, externalId: id })
    return { source_id, ...shownOf(personOf(resource)), resource, message: null }
  } catch (error) {
    if (!(error instanceof ScimProblem)) throw error
    const { userName, active } = sent
    const user_name = typeof userName === 'string' ? userName.slice(0, maxIdLength) : null
    const nothing = { name: null, email: null, email_keys: [], mail_domain: null, resource: null }
    return { source_id, user_name, ...nothing, active: active !== false, message: error.message }
  }
}

function shownOf({ user_name, name, email, active }: Person) {
  return { user_name, name, email, email_keys: addressKeys(email), mail_domain: mailDomainOf(email) ?? null, active }
}

function groupRow({ id, name }: GroupRead): GroupRow {
  const source_id = requireId(id)
  try {
    groupContentOf({ displayName: name, externalId: id })
    return { source_id, name, message: null }
  } catch (error) {
    if (!(error instanceof ScimProblem)) throw error
    return { source_id, name: name.slice(0, maxIdLength), message: error.message }
  }
}

function requireId(id: string): string {
  if (id.length >= 1 && id.length <= maxIdLength) return id
  throw new TargetError('permanent', `the directory has an id that is empty or longer than ${maxIdLength} characters`)
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

import { isObject } from '../../kernel/is-object.ts'
import { TargetError } from '../../provisioners/driver.ts'
import type { GroupRead } from '../../provisioners/target-directory.ts'
import { idOf, type Listed } from './scim-list.ts'

/** A group with those who are in it directly. */
type ScimGroup = { id: string; name: string; members: Member[] }

/** `kind`: what the server says that it is; null when it says nothing. */
type Member = { id: string; kind: 'person' | 'group' | null }

const maxNameLength = 1_000

export function groupOf({ id, entry }: Listed): ScimGroup {
  const { displayName, members } = entry
  const name =
    typeof displayName === 'string' && displayName !== '' ? displayName.slice(0, maxNameLength).toWellFormed() : id
  return { id, name, members: [members ?? []].flat().flatMap(memberOf) }
}

/** Some servers list bare ids. None for what has no id. */
function memberOf(value: unknown): Member[] {
  const id = idOf(isObject(value) ? value.value : value)
  return id === undefined ? [] : [{ id, kind: isObject(value) ? kindOf(value.type, value.$ref) : null }]
}

function kindOf(type: unknown, ref: unknown): Member['kind'] {
  const word = typeof type === 'string' ? type.toLowerCase() : ''
  if (word === 'group' || word === 'user') return word === 'group' ? 'group' : 'person'
  if (typeof ref !== 'string') return null
  if (/\/groups\//i.test(ref)) return 'group'
  return /\/users\//i.test(ref) ? 'person' : null
}

/** So many members on a page, of so many groups. */
const [maxMembers, maxGroups] = [1_000, 100]

/**
 * The groups with all people in them, directly or by a group in it: pages of a bounded size. Groups may contain each other. Who was not among the
 * people that were read is left out.
 * @param maxMemberships of all groups together, of people and of groups
 * @throws TargetError when there are more
 */
export function* flattened(
  groups: ReadonlyMap<string, ScimGroup>,
  people: ReadonlySet<string>,
  maxMemberships: number,
): Generator<GroupRead[]> {
  const limit = { left: maxMemberships, of: maxMemberships }
  let page: GroupRead[] = []
  let members = 0
  for (const group of groups.values()) {
    const all = peopleIn(group, groups, people, limit)
    // At least one page, also of a group without members.
    for (let from = 0; from === 0 || from < all.length; from += maxMembers) {
      const member_ids = all.slice(from, from + maxMembers)
      page.push({ id: group.id, name: group.name, member_ids })
      members += member_ids.length
      if (members < maxMembers && page.length < maxGroups) continue
      yield page
      page = []
      members = 0
    }
  }
  yield page
}

function peopleIn(
  group: ScimGroup,
  groups: ReadonlyMap<string, ScimGroup>,
  people: ReadonlySet<string>,
  limit: { left: number; of: number },
): string[] {
  const found = new Set<string>()
  const visited = new Set([group.id])
  const waiting = [group]
  for (let one = waiting.pop(); one !== undefined; one = waiting.pop()) {
    limit.left -= one.members.length
    if (limit.left < 0) throw new TargetError('permanent', `the groups have more than ${limit.of} memberships in all`)
    for (const { id, kind } of one.members) {
      const inner = kind === 'person' || (kind === null && people.has(id)) ? undefined : groups.get(id)
      if (kind !== 'group' && people.has(id)) found.add(id)
      if (inner === undefined || visited.has(id)) continue
      visited.add(id)
      waiting.push(inner)
    }
  }
  return [...found]
}

import { invalidValue, notUnique, ScimProblem } from '../../http/scim-problem.ts'
import { groupKind } from '../attribute.ts'
import type { Filter } from '../filter.ts'
import { readValueFilter } from '../filter.ts'
import type { PatchOperation } from '../patch.ts'
import { isObject, type Resource, readValue } from '../read-resource.ts'
import { shownText } from '../shown-text.ts'

/** The members after a change: with `all` these alone, else those before it with some more and some fewer. */
export type MemberChange = { all: boolean; added: readonly string[]; removed: readonly string[] }

export type GroupContent = { display_name: string; external_id: string | null }

/** A change of a group; what is undefined stays as it is. */
export type GroupChange = { display_name?: string; external_id?: string | null; members: MemberChange }

/** A group of 10,000 users is about a megabyte. */
export const groupBodyLimit = 8 * 1024 * 1024

/** 409 */
export const groupKnown = () =>
  notUnique('another group of this directory has the `externalId`, or without one the name')

/** The names of groups here. */
const maxNameLength = 200

/** The name under which people see the group. */
export function groupName(display_name: string): string {
  return shownText(display_name, maxNameLength) ?? display_name
}

/** @throws ScimProblem 400 without a name that one can see */
export function groupContentOf(resource: Resource): GroupContent {
  const { displayName, externalId } = resource
  return { display_name: requireName(displayName), external_id: typeof externalId === 'string' ? externalId : null }
}

function requireName(value: unknown): string {
  if (typeof value !== 'string') throw invalidValue('`displayName` is required')
  if (shownText(value, maxNameLength) === null) throw invalidValue('`displayName` must be a name that one can see')
  return value
}

/** The ids of the members that a resource or a value names. Groups in groups are refused: their members are not known here. */
export function memberIds(members: unknown): string[] {
  const named = (Array.isArray(members) ? members : []).filter(isObject)
  if (named.some(({ type }) => typeof type === 'string' && type.toLowerCase() === 'group')) {
    throw invalidValue('a member must be a user: send the members of a group in the group instead')
  }
  return [...new Set(named.map(({ value }) => String(value ?? '')))]
}

/** The change that operations make, one after another. @throws ScimProblem 400 */
export function groupChangeOf(operations: readonly PatchOperation[]): GroupChange {
  const change: GroupChange = { members: { all: false, added: [], removed: [] } }
  for (const operation of operations) {
    const { attribute } = operation.path
    if (attribute.name === 'members') change.members = withMembers(change.members, operation)
    else if (attribute.name === 'displayName') change.display_name = requireName(written(operation))
    else if (attribute.name === 'externalId') change.external_id = (written(operation) as string | undefined) ?? null
  }
  return change
}

function written({ op, path, value }: PatchOperation): unknown {
  return op === 'remove' ? undefined : readValue(path.attribute, value)
}

function withMembers(before: MemberChange, { op, path, value }: PatchOperation): MemberChange {
  const { attribute, filter, sub } = path
  const named = value === undefined || value === null ? undefined : memberIds(readValue(attribute, value))
  if (filter !== undefined) {
    const chosen = idsIn(readValueFilter(groupKind, attribute, filter))
    if (op === 'remove' && sub === undefined) return without(before, chosen)
    // An entry is its id: to replace one is to name another.
    if (sub === undefined && named !== undefined)
      return withMore(op === 'replace' ? without(before, chosen) : before, named)
  }
  if (filter !== undefined || sub !== undefined) {
    throw new ScimProblem(400, 'the parts of a member do not change: add or remove the member', 'mutability')
  }
  if (op === 'add') return withMore(before, named ?? [])
  if (op === 'replace') return { all: true, added: named ?? [], removed: [] }
  return named === undefined ? { all: true, added: [], removed: [] } : without(before, named)
}

const withMore = ({ all, added, removed }: MemberChange, ids: readonly string[]): MemberChange => ({
  all,
  added: [...new Set([...added, ...ids])],
  removed: removed.filter((id) => !ids.includes(id)),
})

const without = ({ all, added, removed }: MemberChange, ids: readonly string[]): MemberChange => ({
  all,
  added: added.filter((id) => !ids.includes(id)),
  removed: all ? [] : [...new Set([...removed, ...ids])],
})

/** The ids that a filter of the form `value eq "…" or value eq "…"` names. */
function idsIn(filter: Filter): string[] {
  if (filter.op === 'or') return filter.filters.flatMap(idsIn)
  if (filter.op === 'eq' && filter.path === 'members.value') return [filter.value]
  throw new ScimProblem(400, 'members are chosen by `members[value eq "…"]`', 'invalidPath')
}

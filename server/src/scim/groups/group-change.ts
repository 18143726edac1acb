import { invalidValue, notUnique, ScimProblem } from '../../http/scim-problem.ts'
import { readUuid } from '../../kernel/id.ts'
import { isObject } from '../../kernel/is-object.ts'
import { groupKind } from '../attribute.ts'
import type { Filter } from '../filter.ts'
import { readValueFilter } from '../filter.ts'
import type { PatchOperation } from '../patch.ts'
import { type Resource, readValue } from '../read-resource.ts'
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
  return [...new Set(named.map(({ value }) => idOf(String(value ?? ''))))]
}

/** In one spelling, so that an operation finds what one before it named. */
const idOf = (text: string) => readUuid(text) ?? text

/** The change that operations make, one after another. @throws ScimProblem 400 */
export function groupChangeOf(operations: readonly PatchOperation[]): GroupChange {
  const members: Members = { all: false, added: new Set(), removed: new Set() }
  const change: Partial<GroupChange> = {}
  for (const operation of operations) {
    const { attribute } = operation.path
    if (attribute.name === 'members') changeMembers(members, operation)
    else if (attribute.name === 'displayName') change.display_name = requireName(written(operation))
    else if (attribute.name === 'externalId') change.external_id = (written(operation) as string | undefined) ?? null
  }
  return { ...change, members: { all: members.all, added: [...members.added], removed: [...members.removed] } }
}

/** What operations have come to so far: thousands of them change it in place. */
type Members = { all: boolean; added: Set<string>; removed: Set<string> }

function written({ op, path, value }: PatchOperation): unknown {
  return op === 'remove' ? undefined : readValue(path.attribute, value)
}

function changeMembers(members: Members, { op, path, value }: PatchOperation): void {
  const { attribute, filter, sub } = path
  const isEmpty = value === undefined || value === null
  const named = isEmpty ? undefined : memberIds(readValue(attribute, value))
  if (sub !== undefined) throw unchanging()
  if (filter !== undefined) {
    const chosen = idsIn(readValueFilter(groupKind, attribute, filter))
    if (op !== 'add') remove(members, chosen)
    // An entry is its id: to replace one is to name another.
    if (op !== 'remove') add(members, named ?? [])
  } else if (op === 'add') add(members, named ?? [])
  else if (op === 'remove' && named !== undefined) remove(members, named)
  else Object.assign(members, { all: true, added: new Set(named), removed: new Set() })
}

const unchanging = () =>
  new ScimProblem(400, 'the parts of a member do not change: add or remove the member', 'mutability')

function add({ added, removed }: Members, ids: readonly string[]): void {
  for (const id of ids) {
    added.add(id)
    removed.delete(id)
  }
}

function remove({ all, added, removed }: Members, ids: readonly string[]): void {
  for (const id of ids) {
    added.delete(id)
    if (!all) removed.add(id)
  }
}

/** The ids that a filter of the form `value eq "…" or value eq "…"` names. */
function idsIn(filter: Filter): string[] {
  if (filter.op === 'or') return filter.filters.flatMap(idsIn)
  if (filter.op === 'eq' && filter.path === 'members.value') return [idOf(filter.value)]
  throw new ScimProblem(400, 'members are chosen by `members[value eq "…"]`', 'invalidPath')
}

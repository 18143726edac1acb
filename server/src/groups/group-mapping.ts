import { type Static, Type } from 'typebox'
import { Line, Uuid } from '../http/schema.ts'
import { type FaultyField, unknownReferences } from '../kernel/errors.ts'
import { requireHeld, scopesLacking } from '../permissions/permission.ts'
import { requireMayGive, requireMayTake } from '../roles/role.ts'

export const maxMappings = 1_000
/** Of more values in a claim none counts: the provider may have left some out. */
const maxClaimValues = 1_000
const maxValueLength = 500

/** A value of the claim, and the group that it gives, as returned by the API. */
export const GroupMapping = Type.Object(
  {
    value: Type.String(),
    group_id: Uuid,
    in_effect: Type.Boolean({
      description:
        'false: the group gives scopes that nobody vouched for; a caller who holds them saves the mapping again',
    }),
  },
  { title: 'GroupMapping' },
)
export type GroupMapping = Static<typeof GroupMapping>

export const GroupMappingInput = Type.Object(
  {
    value: Line(maxValueLength, { description: 'compared exactly' }),
    group_id: Type.String({ format: 'uuid', description: 'a group with the `sign_in_provider_id` of this provider' }),
    in_effect: Type.Optional(Type.Boolean({ description: 'as it was read; not taken' })),
  },
  { additionalProperties: false },
)

export type WantedMapping = Pick<GroupMapping, 'value' | 'group_id'>

/** The mappings as stored: ids in lower case. */
export function readMappings(sent: readonly Static<typeof GroupMappingInput>[]): WantedMapping[] {
  return sent.map(({ value, group_id }) => ({ value, group_id: group_id.toLowerCase() }))
}

export function mappingFaults(wanted: readonly WantedMapping[]): FaultyField[] {
  const seen = new Set<string>()
  return wanted.flatMap((mapping, index) => {
    const isKnown = seen.has(keyOf(mapping))
    seen.add(keyOf(mapping))
    return isKnown ? [{ pointer: `/group_mappings/${index}`, why: 'is a duplicate: send each mapping once' }] : []
  })
}

/** A mapping that is there. */
export type HeldMapping = GroupMapping & { id: string }

/** A group of the sign-in provider, with the scopes that it gives. */
export type ClaimedGroup = { id: string; scopes: readonly string[] }

/** `vouched`: mappings out of effect that a caller with the scopes of the group saves again. */
export type MappingChange = { added: WantedMapping[]; removed: HeldMapping[]; vouched: HeldMapping[] }

/**
 * Plans which mappings to add and remove so that `wanted` replaces `held`. Those that stay need no right.
 * @param groups the groups of the provider among those of `held` and `wanted`
 * @throws Problem 422 naming each group that is not one of the provider, 403 naming the scopes that the caller
 * lacks: `groups:write`, and those that the groups give
 */
export function planMappings(
  held: readonly HeldMapping[],
  wanted: readonly WantedMapping[],
  groups: readonly ClaimedGroup[],
  caller: ReadonlySet<string>,
): MappingChange {
  const scopes = new Map(groups.map((group) => [group.id, group.scopes]))
  requireGroups(wanted, scopes)
  const before = new Set(held.map(keyOf))
  const now = new Set(wanted.map(keyOf))
  const added = wanted.filter((mapping) => !before.has(keyOf(mapping)))
  const removed = held.filter((mapping) => !now.has(keyOf(mapping)))
  requireMayGive(caller, scopesOf(added, scopes))
  requireMayTake(caller, scopesOf(removed, scopes))
  if (added.length + removed.length > 0) {
    const why = 'a mapping puts people into a group'
    requireHeld(caller, ['groups:write'], (lacking) => `${why}: to change mappings you need \`${lacking}\` too`)
  }
  const vouched = held.filter(
    (mapping) =>
      now.has(keyOf(mapping)) && !mapping.in_effect && scopesLacking(caller, scopesOf([mapping], scopes)).length === 0,
  )
  return { added, removed, vouched }
}

export function isEmpty({ added, removed, vouched }: MappingChange): boolean {
  return added.length + removed.length + vouched.length === 0
}

/** What an event says of mappings. */
export function mappingFact(mappings: readonly WantedMapping[]): WantedMapping[] {
  return mappings.map(({ value, group_id }) => ({ value, group_id }))
}

function requireGroups(wanted: readonly WantedMapping[], known: ReadonlyMap<string, unknown>): void {
  const why = 'is not a group of this sign-in provider; make one with POST /v1/groups and its `sign_in_provider_id`'
  const fields = wanted.flatMap(({ group_id }, index) =>
    known.has(group_id) ? [] : [{ pointer: `/group_mappings/${index}/group_id`, why }],
  )
  if (fields.length > 0) throw unknownReferences(fields)
}

function scopesOf(mappings: readonly WantedMapping[], scopes: ReadonlyMap<string, readonly string[]>): Set<string> {
  const groups = new Set(mappings.map(({ group_id }) => group_id))
  return new Set([...groups].flatMap((id) => scopes.get(id) ?? []))
}

function keyOf({ value, group_id }: WantedMapping): string {
  return `${group_id} ${value}`
}

/** What the claim of a sign-in said. `missing`: nothing that can be read; `overflow`: the provider has more than it sends. */
export type GroupsClaim = { is: 'read'; values: readonly string[] } | { is: 'missing' } | { is: 'overflow' }

type Claims = Readonly<Record<string, unknown>>

/**
 * Reads the claim: a list of texts, or one text. INVARIANT: a claim that may be incomplete gives nothing. Microsoft Entra says by
 * `_claim_names` (or `hasgroups`, for its claim `groups`) that a person has too many groups to send.
 */
export function readGroupsClaim(claims: Claims, name: string): GroupsClaim {
  const value = Object.hasOwn(claims, name) ? claims[name] : undefined
  if (isElsewhere(claims, name)) return { is: 'overflow' }
  const values = typeof value === 'string' ? [value] : value
  if (!isTexts(values)) return { is: 'missing' }
  if (values.length > maxClaimValues) return { is: 'overflow' }
  return { is: 'read', values: [...new Set(values)].filter(canBeMapped) }
}

function isElsewhere({ _claim_names: names, hasgroups }: Claims, name: string): boolean {
  if (typeof names === 'object' && names !== null && Object.hasOwn(names, name)) return true
  return name === 'groups' && (hasgroups === true || hasgroups === 'true')
}

function isTexts(values: unknown): values is string[] {
  return Array.isArray(values) && values.every((value) => typeof value === 'string')
}

function canBeMapped(value: string): boolean {
  return value.length > 0 && value.length <= maxValueLength && value.isWellFormed() && !value.includes('\0')
}

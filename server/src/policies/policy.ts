import { type Static, Type } from 'typebox'
import { recordTag } from '../http/if-match.ts'
import { Body, DateTime, Documented, Name, Uuid } from '../http/schema.ts'
import { type FaultyField, invalidInput } from '../kernel/errors.ts'
import { readUuid } from '../kernel/id.ts'
import { Rule } from '../policy-engine/rule.ts'

/** The maximum number of rules of a tenant. */
export const maxRules = 10_000
/** The maximum number of ids in one reordering. */
const maxIds = 10_000
/** Leaves room above for a billion policies that are added last. */
const maxPriority = 1_000_000_000

const aboutName = { description: 'For people; need not be unique.' }
export const PolicyName = Name(200, aboutName)
export const PolicyDescription = Type.String({ maxLength: 2000 })
export const PolicyEnabled = Type.Boolean({ description: 'The rules of a disabled policy decide nothing.' })
export const PolicyPriority = Type.Integer({
  minimum: 0,
  maximum: maxPriority,
  description: 'Place among the policies, the lowest first. It chooses which rule’s text is shown, never the decision.',
})

/** A policy as the API returns it, with its rules in their order. */
export const Policy = Type.Object(
  {
    id: Uuid,
    name: Type.String(aboutName),
    description: PolicyDescription,
    enabled: PolicyEnabled,
    priority: Type.Integer(),
    rules: Type.Array(Rule),
    created_at: DateTime,
    updated_at: DateTime,
  },
  { title: 'Policy' },
)
export type Policy = Static<typeof Policy>

/** The `ETag` of a policy. Its rules count with their place and date: a digest of 10,000 statements would take too long. */
export function policyTag({ rules, ...policy }: Policy): string {
  return recordTag({ ...policy, rules: rules.map(({ id, ordinal, updated_at }) => [id, ordinal, updated_at]) })
}

/** The `ETag` of a rule, with or without the warnings of its change. */
export function ruleTag(rule: Rule): string {
  return recordTag(rule, 'warnings')
}

/** The fields of a policy that an update may change; reordering changes its place. */
export const PolicyChange = Body({
  name: Type.Optional(PolicyName),
  description: Type.Optional(PolicyDescription),
  enabled: Type.Optional(PolicyEnabled),
})
export type PolicyChange = Static<typeof PolicyChange>

/** The fields to which the change gives a new value. */
export function changedFields(policy: Policy, change: PolicyChange): (keyof PolicyChange)[] {
  return (['name', 'description', 'enabled'] as const).filter(
    (field) => change[field] !== undefined && change[field] !== policy[field],
  )
}

/** `{id}` of a policy and `{rule_id}` of a rule in it. */
export const RuleParams = Type.Object({ id: Uuid, rule_id: Uuid })

/** The body of both reorderings. */
export const Reorder = Body({
  ids: Documented(
    Type.Array(Uuid, {
      minItems: 1,
      maxItems: maxIds,
      description:
        'The ids in the new order. They share out the places that they have now; all others keep their places.',
    }),
    { uniqueItems: true },
  ),
})

const maxFaultsShown = 20

/**
 * The ids in their stored form, each once.
 * @throws Problem 400 naming the ids that occur twice.
 */
export function requireDistinctIds(ids: readonly string[]): string[] {
  const firstAt = new Map<string, number>()
  const faults: FaultyField[] = []
  for (const [index, text] of ids.entries()) {
    const id = readUuid(text)
    const pointer = `/ids/${index}`
    const first = firstAt.get(id ?? '')
    if (id === undefined) faults.push({ pointer, why: 'must be a uuid' })
    else if (first !== undefined) faults.push({ pointer, why: `is the same as \`/ids/${first}\`; name each once` })
    else firstAt.set(id, index)
  }
  if (faults.length > 0) throw invalidInput(faults.slice(0, maxFaultsShown))
  return [...firstAt.keys()]
}

/** The fault of a reordering with unknown ids. It does not say which id it is, because the id may be another tenant's. */
export function unknownIdsFault(noun: 'policies of this tenant' | 'rules of this policy'): FaultyField {
  return { pointer: '/ids', why: `must name only ${noun}` }
}

/** An ordered item: by place, then by id. */
export type Placed = { id: string; place: number }

/**
 * The items to move and their new places, so that the listed items are in the given order on the places that they share out, and
 * every other item stays. Where two items share a place and the existing places cannot express the new order, all items are
 * renumbered from 0. Undefined when an id is not among `current`.
 * @param current all items, in their order
 * @param ids each once
 */
export function reorder(current: readonly Placed[], ids: readonly string[]): Placed[] | undefined {
  const listed = new Set(ids)
  if (current.filter(({ id }) => listed.has(id)).length !== ids.length) return undefined
  const coming = ids.values()
  const wanted = current.map(({ id, place }) => ({ id: listed.has(id) ? (coming.next().value ?? id) : id, place }))
  const numbered = wanted.every((one, index) => isAfter(one, wanted[index - 1]))
    ? wanted
    : wanted.map(({ id }, place) => ({ id, place }))
  const placeOf = new Map(current.map(({ id, place }) => [id, place]))
  return numbered.filter(({ id, place }) => placeOf.get(id) !== place)
}

function isAfter(one: Placed, before: Placed | undefined): boolean {
  return before === undefined || before.place < one.place || (before.place === one.place && before.id < one.id)
}

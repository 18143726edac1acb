/**
 * Which rules can apply to a question at all, by their scopes. A rule whose scope does not fit cannot match and cannot fail, because
 * the engine checks the scope before the conditions. Leaving the rule out does not change the answer.
 *
 * Every rule is in the bucket of the most selective entity, action or type that its scope names: a user, a group, a role, a resource
 * or its parent, an action, a type. A rule that names none is in the last bucket, which every question opens. A question opens the
 * buckets of everything that it names and keeps the rules that fit it.
 */
import type { EngineQuestion } from '../cedar/question.ts'
import { type EntityScope, plainReference, type Scope } from '../cedar/scope.ts'

/** A rule as the index needs it. `serial` is never reused; `place` spreads rules evenly. */
export type ScopedRule = { serial: number; place: number; scope: KeyedScope; ways: Combinations }

/** The ways to file a rule: for each, the buckets that it would have to be in. */
export type Combinations = readonly (readonly string[])[]

/** Rules that are evaluated together. `key` names exactly these rules. */
export type RuleGroup<Rule> = { key: string; rules: readonly Rule[] }

/** A scope whose entities are keys. */
export type KeyedScope = {
  principal: KeyedEntity
  /** Undefined: any action. */
  actions: readonly string[] | undefined
  resource: KeyedEntity
}
type KeyedEntity = {
  /** The entity must be this one. */
  is?: string
  /** The entity must be this one or in it. */
  within?: string
  type?: string
}

/** An entity of a question: its own key, its type, and the keys of itself and of all its ancestors. */
export type Reach = { key: string; type: string; within: ReadonlySet<string> }
export type Reaches = { principal: Reach; action: string; resource: Reach }

export type RuleIndex<Rule> = {
  sizes: Sizes
  /** All rules, where they are too few for an index to pay off. */
  whole: RuleGroup<Rule> | undefined
  buckets: ReadonlyMap<string, Bucket<Rule>>
}
type Bucket<Rule> = { rules: readonly Rule[]; pieces: () => readonly RuleGroup<Rule>[] }

/** How rules are grouped; sizes in rules. */
export type Sizes = {
  /** Up to this many rules are evaluated without an index: they cost the engine less than a second question. */
  mostWhole: number
  /** The number of rules from several buckets that are joined for one question: preparsing them is the cost of a new question. */
  maxJoined: number
  /** Where more rules of one bucket fit, they are not selected: the whole bucket is evaluated, in pieces of this size. */
  maxPicked: number
}

/** Measured: docs/decisions/0032. */
const measuredSizes: Sizes = { mostWhole: 100, maxJoined: 40, maxPicked: 250 }

/** A longer list of actions would put its rule into as many buckets. */
const maxActions = 8

const lastBucket = ''

/** A type cannot contain a space. */
const keyOf = ({ type, id }: { type: string; id: string }) => `${type} ${id}`

export function keyedScope({ principal, action, resource }: Scope): KeyedScope {
  const actions = action.scope === 'any' ? undefined : action.ids
  return { principal: keyedEntity(principal), actions, resource: keyedEntity(resource) }
}

export function combinationsOf({ principal, actions, resource }: KeyedScope): Combinations {
  const ways: string[][] = []
  for (const [side, { is, within, type }] of [['p', principal] as const, ['r', resource] as const]) {
    const entity = is ?? within
    if (entity !== undefined) ways.push([`${side}:${entity}`])
    else if (type !== undefined) ways.push([`${side} is ${type}`])
  }
  if (actions !== undefined && actions.length <= maxActions) ways.push([...new Set(actions)].map((id) => `a:${id}`))
  return ways
}

function keyedEntity(scope: EntityScope): KeyedEntity {
  switch (scope.scope) {
    case 'any':
      return {}
    case 'eq':
      return { is: keyOf(scope) }
    case 'in':
      return { within: keyOf(scope) }
    case 'is':
      return { type: scope.type }
    case 'is_in':
      return { type: scope.type, within: keyOf(scope.group) }
  }
}

/** The question's principal and resource, with their ancestors among the question's entities. */
export function reachesOf({ principal, action, resource, entities }: EngineQuestion): Reaches {
  const parents = new Map(
    entities.map(({ uid, parents: above }) => [keyOf(plainReference(uid)), above.map(plainReference).map(keyOf)]),
  )
  const reach = (entity: { type: string; id: string }): Reach => {
    const key = keyOf(entity)
    const within = new Set([key])
    // The iteration of a set includes elements that are added meanwhile.
    for (const one of within) for (const parent of parents.get(one) ?? []) within.add(parent)
    return { key, type: entity.type, within }
  }
  return {
    principal: reach(plainReference(principal)),
    action: plainReference(action).id,
    resource: reach(plainReference(resource)),
  }
}

/** The reach of an entity whose ancestors are all listed. */
export function reachOf(
  entity: { type: string; id: string },
  ancestors: readonly { type: string; id: string }[],
): Reach {
  return { key: keyOf(entity), type: entity.type, within: new Set([entity, ...ancestors].map(keyOf)) }
}

/** Whether the scope matches the question, by the same rules as the engine. */
export function fits({ principal, actions, resource }: KeyedScope, asked: Reaches): boolean {
  return (
    entityFits(principal, asked.principal) &&
    entityFits(resource, asked.resource) &&
    (actions === undefined || actions.includes(asked.action))
  )
}

/** Whether the scope's side matches the entity, by the same rules as the engine. */
export function entityFits({ is, within, type }: KeyedEntity, reach: Reach): boolean {
  return (
    (is === undefined || is === reach.key) &&
    (within === undefined || reach.within.has(within)) &&
    (type === undefined || type === reach.type)
  )
}

/** Files the rules; it yields after each, so that other work can run. */
export function* indexRules<Rule extends ScopedRule>(
  rules: readonly Rule[],
  sizes = measuredSizes,
): Generator<undefined, RuleIndex<Rule>> {
  if (rules.length <= sizes.mostWhole) return { sizes, whole: groupOf(rules), buckets: new Map() }
  const counts = new Map<string, number>()
  for (const { ways } of rules) {
    for (const keys of ways) for (const key of keys) counts.set(key, (counts.get(key) ?? 0) + 1)
    yield
  }
  const filled = new Map<string, Rule[]>()
  for (const rule of rules) {
    for (const key of scarcest(rule.ways, counts)) {
      const bucket = filled.get(key)
      if (bucket === undefined) filled.set(key, [rule])
      else bucket.push(rule)
    }
    yield
  }
  const buckets = new Map([...filled].map(([key, bucket]) => [key, bucketOf(bucket, sizes)]))
  return { sizes, whole: undefined, buckets }
}

function scarcest(ways: Combinations, counts: ReadonlyMap<string, number>): readonly string[] {
  let [best, least]: [readonly string[], number] = [[lastBucket], Number.POSITIVE_INFINITY]
  for (const keys of ways) {
    let count = 0
    for (const key of keys) count += counts.get(key) ?? 0
    if (count < least) [best, least] = [keys, count]
  }
  return best
}

/** The buckets that a question opens: every bucket that can contain a fitting rule. */
function opened({ principal, action, resource }: Reaches): string[] {
  const keys = [lastBucket, `a:${action}`, `p is ${principal.type}`, `r is ${resource.type}`]
  for (const key of principal.within) keys.push(`p:${key}`)
  for (const key of resource.within) keys.push(`r:${key}`)
  return keys
}

/** The groups to evaluate, at least one; together they hold every rule that fits the question, and no rule twice. */
export function groupsFor<Rule extends ScopedRule>(index: RuleIndex<Rule>, asked: Reaches): RuleGroup<Rule>[] {
  if (index.whole !== undefined) return [index.whole]
  const found: { bucket: Bucket<Rule>; fitting: Rule[] }[] = []
  for (const key of opened(asked)) {
    const bucket = index.buckets.get(key)
    const fitting = bucket?.rules.filter(({ scope }) => fits(scope, asked)) ?? []
    if (bucket !== undefined && fitting.length > 0) found.push({ bucket, fitting })
  }
  found.sort((one, other) => one.fitting.length - other.fitting.length)

  const joined: Rule[] = []
  const groups: RuleGroup<Rule>[] = []
  for (const { bucket, fitting } of found) {
    if (joined.length + fitting.length <= index.sizes.maxJoined) joined.push(...fitting)
    else if (fitting.length <= index.sizes.maxPicked) groups.push(groupOf(fitting))
    else groups.push(...bucket.pieces())
  }
  if (joined.length > 0 || groups.length === 0) groups.push(groupOf(joined))
  return groups
}

/** The groups that every question evaluates, if they hold many rules: worth preparsing before the first question. */
export function groupsOfAll<Rule extends ScopedRule>({ sizes, buckets }: RuleIndex<Rule>): readonly RuleGroup<Rule>[] {
  const last = buckets.get(lastBucket)
  return last !== undefined && last.rules.length > sizes.maxPicked ? last.pieces() : []
}

function bucketOf<Rule extends ScopedRule>(rules: readonly Rule[], sizes: Sizes): Bucket<Rule> {
  let pieces: readonly RuleGroup<Rule>[] | undefined
  return {
    rules,
    pieces: () => {
      pieces ??= piecesOf(rules, sizes)
      return pieces
    },
  }
}

/** Rules split by their places, so that a changed, added or deleted rule changes only one piece. */
function piecesOf<Rule extends ScopedRule>(rules: readonly Rule[], { maxPicked }: Sizes): RuleGroup<Rule>[] {
  let count = 1
  while (rules.length / count > maxPicked) count *= 2
  const pieces = Array.from({ length: count }, (): Rule[] => [])
  for (const rule of rules) pieces[rule.place % count]?.push(rule)
  return pieces.map(groupOf)
}

function groupOf<Rule extends ScopedRule>(rules: readonly Rule[]): RuleGroup<Rule> {
  const sorted = rules.toSorted((one, other) => one.serial - other.serial)
  return { key: sorted.map(({ serial }) => serial).join(), rules: sorted }
}

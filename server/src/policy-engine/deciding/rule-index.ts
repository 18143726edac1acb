/**
 * Which rules can apply to a question at all, by their scopes and the first parts of their conditions. A rule that does not fit these
 * cannot match and cannot fail, because the engine checks the scope before the conditions, and their parts in order. Leaving the rule
 * out does not change the answer.
 *
 * Every rule is in the bucket of the most selective entity, action, type or fact that it names: a user, a group, a role, a resource or its
 * parent, an action, a type, the value of a tag or an attribute. A rule that names none is in the last bucket, which every question opens.
 * A question opens the buckets of everything that it has and keeps the rules that fit it.
 *
 * Of rules with the same text but for annotations, the engine evaluates one, and its outcome is that of all of them.
 */
import type { EngineQuestion } from '../cedar/question.ts'
import { fits, type KeyedScope, type Reaches, reachesOf } from './keyed-scope.ts'
import { type FactValues, factValuesOf, hasFacts, type Narrowing } from './narrowing.ts'
import { atOnce } from './pieces.ts'

/** A rule as the index needs it. */
export type ScopedRule = {
  id: string
  /** Never reused. */
  serial: number
  /** Spreads rules evenly. */
  place: number
  /** Its text without annotations. */
  like: string
  /** Of a rule that lists several actions, where it is not too long: the statement without them, as JSON. */
  body?: string
  scope: KeyedScope
  narrowing: Narrowing
  ways: Combinations
}

/** The ways to file a rule: for each, the buckets that it would have to be in. */
export type Combinations = readonly (readonly string[])[]

/** The ids of the rules that are not evaluated, by the id of the one that is evaluated for them. */
export type Twins = ReadonlyMap<string, readonly string[]>

/** Rules that are evaluated together. `key` names exactly these rules. `twins`: those of these rules, and perhaps of others. */
export type RuleGroup<Rule> = {
  key: string
  rules: readonly Rule[]
  twins: Twins
  /** The one action for which the group is evaluated: of the actions that a rule with a `body` lists, the engine gets this one alone. */
  action?: string
}

export type RuleIndex<Rule> = {
  sizes: Sizes
  /** All rules, where they are too few for an index to pay off. */
  whole: RuleGroup<Rule> | undefined
  buckets: ReadonlyMap<string, Bucket<Rule>>
  twins: Twins
  /** Whether a rule wants a fact: reading those of a question takes some microseconds. */
  wantsFacts: boolean
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
  /** Every rule is evaluated, although another has the same text. */
  asksTwins?: true
}

/** Measured: docs/decisions/0032. */
const measuredSizes: Sizes = { mostWhole: 100, maxJoined: 40, maxPicked: 250 }

/** A longer list of actions or values would put its rule into as many buckets. */
const maxListed = 16

const lastBucket = ''
const actionPrefix = 'a:'

/** The ways of a scope and of what the conditions must find. */
export function combinationsOf(scope: KeyedScope, { facts, scopes }: Narrowing): Combinations {
  const short = facts.filter(({ values }) => values.length <= maxListed)
  return [
    ...[scope, ...scopes].flatMap(scopeWays),
    ...short.map(({ path, values }) => values.map((value) => factBucket(path, value))),
  ]
}

function scopeWays({ principal, actions, resource }: KeyedScope): string[][] {
  const ways: string[][] = []
  for (const [side, { is, within, type }] of [['p', principal] as const, ['r', resource] as const]) {
    const entity = is ?? within
    if (entity !== undefined) ways.push([`${side}:${entity}`])
    else if (type !== undefined) ways.push([`${side} is ${type}`])
  }
  if (actions !== undefined && actions.length <= maxListed)
    ways.push([...new Set(actions)].map((id) => `${actionPrefix}${id}`))
  return ways
}

/** The length keeps the path apart from the value, both of which may be any text. */
const factBucket = (path: string, value: string) => `f:${path.length} ${path}${value}`

/** Files the rules; it yields after each, so that other work can run. */
export function* indexRules<Rule extends ScopedRule>(
  all: readonly Rule[],
  sizes = measuredSizes,
): Generator<undefined, RuleIndex<Rule>> {
  const { each: rules, twins } = sizes.asksTwins
    ? { each: all, twins: noTwins }
    : yield* withoutTwins(all, ({ like }) => like)
  const wantsFacts = rules.some(({ narrowing }) => narrowing.facts.length > 0)
  const base = { sizes, twins, wantsFacts }
  if (rules.length <= sizes.mostWhole) return { ...base, whole: groupOf(rules, twins), buckets: new Map() }
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
  const buckets = new Map([...filled].map(([key, bucket]) => [key, bucketOf(key, bucket, sizes, twins)]))
  return { ...base, whole: undefined, buckets }
}

const noTwins: Twins = new Map()

/**
 * Of rules that are alike, the first by serial, which stays the same while others come and go. `before`: twins of these rules. It yields after
 * each rule, because the hash of a long text takes time.
 */
function* withoutTwins<Rule extends ScopedRule>(
  all: readonly Rule[],
  likeOf: (rule: Rule) => string | Rule,
  before = noTwins,
): Generator<undefined, { each: Rule[]; twins: Twins }> {
  const alike = new Map<string | Rule, Rule[]>()
  for (const rule of all) {
    const like = likeOf(rule)
    const rules = alike.get(like)
    if (rules === undefined) alike.set(like, [rule])
    else rules.push(rule)
    yield
  }
  const twins = new Map<string, string[]>()
  const each = [...alike.values()].map((rules) => {
    const first = rules.reduce((one, other) => (other.serial < one.serial ? other : one))
    const ids = rules.flatMap(({ id }) => [id, ...(before.get(id) ?? [])])
    if (ids.length > 1)
      twins.set(
        first.id,
        ids.filter((id) => id !== first.id),
      )
    return first
  })
  return { each, twins }
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
function opened({ principal, action, resource }: Reaches, values: FactValues): string[] {
  const keys = [lastBucket, `${actionPrefix}${action}`, `p is ${principal.type}`, `r is ${resource.type}`]
  for (const key of principal.within) keys.push(`p:${key}`)
  for (const key of resource.within) keys.push(`r:${key}`)
  for (const [path, value] of values) keys.push(factBucket(path, value))
  return keys
}

/** The groups to evaluate, at least one; together they hold every rule that fits the question, and no rule twice. */
export function groupsFor<Rule extends ScopedRule>(
  index: RuleIndex<Rule>,
  question: EngineQuestion,
): RuleGroup<Rule>[] {
  if (index.whole !== undefined) return [index.whole]
  const asked = reachesOf(question)
  const values: FactValues = index.wantsFacts ? factValuesOf(question) : new Map()
  const isPossible = ({ scope, narrowing }: Rule) =>
    fits(scope, asked) && narrowing.scopes.every((other) => fits(other, asked)) && hasFacts(narrowing.facts, values)
  const found: { bucket: Bucket<Rule>; fitting: Rule[] }[] = []
  for (const key of opened(asked, values)) {
    const bucket = index.buckets.get(key)
    const fitting = bucket?.rules.filter(isPossible) ?? []
    if (bucket !== undefined && fitting.length > 0) found.push({ bucket, fitting })
  }
  found.sort((one, other) => one.fitting.length - other.fitting.length)

  const joined: Rule[] = []
  const groups: RuleGroup<Rule>[] = []
  for (const { bucket, fitting } of found) {
    if (joined.length + fitting.length <= index.sizes.maxJoined) joined.push(...fitting)
    else if (isWorthPicking(bucket, fitting.length, index.sizes)) groups.push(groupOf(fitting, index.twins))
    else groups.push(...bucket.pieces())
  }
  if (joined.length > 0 || groups.length === 0) groups.push(groupOf(joined, index.twins))
  return groups
}

/** Whether a group of the fitting rules alone is better than all pieces of the bucket, which other questions share. */
function isWorthPicking<Rule>({ rules, pieces }: Bucket<Rule>, fitting: number, { maxPicked }: Sizes): boolean {
  if (fitting > maxPicked) return false
  return rules.length <= maxPicked || pieces().reduce((sum, piece) => sum + piece.rules.length, 0) > fitting
}

/**
 * The groups that questions share because they hold many rules, one after another: worth preparsing before the first question. Those that
 * every question evaluates come first.
 */
export function* sharedGroups<Rule extends ScopedRule>({
  sizes,
  buckets,
}: RuleIndex<Rule>): Generator<RuleGroup<Rule>> {
  const last = buckets.get(lastBucket)
  for (const bucket of last === undefined ? buckets.values() : new Set([last, ...buckets.values()]))
    if (bucket.rules.length > sizes.maxPicked) yield* bucket.pieces()
}

function bucketOf<Rule extends ScopedRule>(
  key: string,
  rules: readonly Rule[],
  sizes: Sizes,
  twins: Twins,
): Bucket<Rule> {
  let pieces: readonly RuleGroup<Rule>[] | undefined
  return {
    rules,
    pieces: () => {
      pieces ??= key.startsWith(actionPrefix)
        ? piecesFor(key.slice(actionPrefix.length), rules, sizes, twins)
        : piecesOf(rules, sizes, twins)
      return pieces
    },
  }
}

/** The rules for one action. Where they differ in the other actions that they list, they are twins here. */
function piecesFor<Rule extends ScopedRule>(
  action: string,
  all: readonly Rule[],
  sizes: Sizes,
  before: Twins,
): RuleGroup<Rule>[] {
  // A rule can be here for its condition although its scope lists other actions: it never fits, and must not get this one.
  const covering = all.filter(({ scope: { actions } }) => actions === undefined || actions.includes(action))
  // Without a body a rule is alike only to itself: those with its text were left out before. So no long text is hashed here.
  const { each, twins } = atOnce(withoutTwins(covering, (rule) => rule.body ?? rule, before))
  // The pieces of each action are held beside those of the others: together they never hold more rules than there are.
  if (each.length * maxListed > covering.length) return piecesOf(all, sizes, before)
  return piecesOf(each, sizes, twins).map((piece) => ({
    ...piece,
    key: `${actionPrefix}${action} ${piece.key}`,
    action,
  }))
}

/** Rules split by their places, so that a changed, added or deleted rule changes only one piece. */
function piecesOf<Rule extends ScopedRule>(
  rules: readonly Rule[],
  { maxPicked }: Sizes,
  twins: Twins,
): RuleGroup<Rule>[] {
  let count = 1
  while (rules.length / count > maxPicked) count *= 2
  const pieces = Array.from({ length: count }, (): Rule[] => [])
  for (const rule of rules) pieces[rule.place % count]?.push(rule)
  return pieces.map((piece) => groupOf(piece, twins))
}

function groupOf<Rule extends ScopedRule>(rules: readonly Rule[], twins: Twins): RuleGroup<Rule> {
  const sorted = rules.toSorted((one, other) => one.serial - other.serial)
  return { key: sorted.map(({ serial }) => serial).join(), rules: sorted, twins }
}

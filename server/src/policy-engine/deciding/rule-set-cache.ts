/**
 * Rule sets as decisions need them: their parsed rules, and the groups that the engine holds preparsed.
 *
 * A group of rules is preparsed once for all versions of the set: its key is the serials of its rules, and a serial always means
 * the same text of the same rule, of one tenant. Only the group of no rules belongs to all. The engine's cache of preparsed sets has no
 * delete, but reusing a slot name frees its content. So slots have fixed names, which are reused. A new instance of the engine has an
 * empty cache. The memory of an instance never shrinks: what is held at once bounds it.
 */
import type { Engine, PolicyJson } from '../cedar/engine.ts'
import { parseStored } from '../cedar/parse.ts'
import { createFairShelf, type FairShelf } from './fair-shelf.ts'
import { atOnce, inPieces } from './pieces.ts'
import { type RuleGroup, sharedGroups } from './rule-index.ts'
import { type PolicyRule, type ReadRule, type RuleSet, type SortedRules, sortRules, statementFor } from './rule-set.ts'
import { partsOfGroup, weightOfGroup } from './rule-weight.ts'

export type RuleSetCache = {
  /** The rules, sorted; cached as long as the rule set exists. */
  sorted(ruleSet: RuleSet): SortedRules
  /**
   * Does in advance, in pieces between which other work runs, what the first decision would otherwise have to do. Rules that
   * `before` (an earlier version, or the base of a draft) already has are not parsed again. Never throws: a failure fails the
   * decision instead.
   */
  prepare(ruleSet: RuleSet, before?: RuleSet): Promise<void>
  /** Only the parsing of the rules, for few questions: each question then preparses what it needs. */
  read(ruleSet: RuleSet, before?: RuleSet): Promise<void>
  /** The name of the slot that holds a group of the tenant's rules, preparsed. Valid until the next call. */
  slot(tenant_id: string, group: RuleGroup<ReadRule>): string
  /** What the engine holds to keep, in bytes as `rule-weight.ts` estimates them. */
  held(): number
  /** How many groups were preparsed. */
  preparsed(): number
}

/** So many rules of a subset are preparsed before the first question: a rule that lists many actions can be in as many groups. */
const mostPrepared = 10_000

/** `passing`: the group that found no room; it stays until another one needs a slot. */
type Shelf = {
  slots: FairShelf<string>
  freeNames: string[]
  nameCount: number
  passing: string | undefined
  faults: number
}

/** The slot of a group that finds no room. */
const passingName = 'passing'

/** The parsed rules of each rule set that is still referenced, by the identity of its list of rules. */
const sortedSets = new WeakMap<readonly PolicyRule[], SortedRules>()

/**
 * Rule sets in a separate engine, which holds at most `limit` bytes of preparsed rules, shared fairly among tenants, and one group more. A rule
 * of 70 characters takes 1.6 KB, one of 6.7 KB between 20 KB and 1.5 MB. Every function except `prepare` and `read` may throw the engine's
 * errors, or an Error for rules that do not parse.
 */
export function createRuleSetCache(engine: Engine, limit: number): RuleSetCache {
  let shelf = emptyShelf(engine, limit)
  let preparsed = 0
  const underway = new WeakMap<readonly PolicyRule[], Promise<void>>()

  function* sorting({ rules }: RuleSet, before?: RuleSet): Generator<undefined, SortedRules> {
    const known = sortedSets.get(rules)
    if (known !== undefined) return known
    const earlier = before === undefined ? undefined : sortedSets.get(before.rules)?.read
    const sorted = yield* sortRules(rules, (rule) => parseStored(engine, rule), earlier)
    sortedSets.set(rules, sorted)
    return sorted
  }

  function* preparing(ruleSet: RuleSet, before?: RuleSet): Generator<undefined, void> {
    const { subsets } = yield* sorting(ruleSet, before)
    // `ordinary` alone is rarely evaluated: `both` mostly has its answer.
    for (const index of [subsets.both, subsets.emergency, subsets.approve]) {
      let prepared = 0
      for (const group of sharedGroups(index)) {
        for (const part of partsOfGroup(group)) {
          slot(ruleSet.tenant_id, part)
          yield
        }
        prepared += group.rules.length + 1
        if (prepared >= mostPrepared) break
      }
    }
  }

  function slot(tenant_id: string, group: RuleGroup<ReadRule>): string {
    const { key, rules } = group
    if (shelf.faults !== engine.faults()) shelf = emptyShelf(engine, limit)
    const owner = rules.length === 0 ? '' : tenant_id
    const present = shelf.slots.get(owner, key) ?? (shelf.passing === key ? passingName : undefined)
    if (present !== undefined) return present
    const weight = weightOfGroup(group)
    const { evicted, fits } = shelf.slots.makeRoom(owner, weight)
    for (const name of evicted) preparse(engine, name, { rules: [] })
    shelf.freeNames.push(...evicted)
    if (shelf.passing !== undefined) preparse(engine, passingName, { rules: [] })
    shelf.passing = undefined
    const name = fits ? (shelf.freeNames.pop() ?? `rules-${shelf.nameCount++}`) : passingName
    preparse(engine, name, group)
    preparsed += 1
    if (fits) shelf.slots.add(owner, key, name, weight)
    else shelf.passing = key
    return name
  }

  return {
    sorted: (ruleSet) => atOnce(sorting(ruleSet)),
    async prepare(ruleSet, before) {
      if (sortedSets.has(ruleSet.rules)) return
      let work = underway.get(ruleSet.rules)
      if (work === undefined) {
        work = inPieces(preparing(ruleSet, before)).catch(() => undefined)
        underway.set(ruleSet.rules, work)
      }
      await work
    },
    read: (ruleSet, before) =>
      inPieces(sorting(ruleSet, before)).then(
        () => undefined,
        () => undefined,
      ),
    slot,
    held: () => shelf.slots.held(),
    preparsed: () => preparsed,
  }
}

function emptyShelf(engine: Engine, limit: number): Shelf {
  return { slots: createFairShelf(limit), freeNames: [], nameCount: 0, passing: undefined, faults: engine.faults() }
}

function preparse(engine: Engine, name: string, group: Pick<RuleGroup<ReadRule>, 'rules' | 'action'>): void {
  const { rules, action } = group
  const staticPolicies = Object.fromEntries(
    rules.map(({ id, text, body, scope }): [string, string | PolicyJson] => {
      // INVARIANT: an action is put in the place of a list only where it is in the list.
      const isListed = action !== undefined && body !== undefined && scope.actions?.includes(action)
      return [id, isListed ? statementFor(body, action) : text]
    }),
  )
  const answer = engine.use((cedar) => cedar.preparsePolicySet(name, { staticPolicies }))
  if (answer.type === 'failure') throw new Error(answer.errors[0]?.message ?? 'the rules do not parse')
}

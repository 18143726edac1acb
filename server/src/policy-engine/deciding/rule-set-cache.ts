/**
 * Rule sets as decisions need them: their parsed rules, and the groups that the engine holds preparsed.
 *
 * A group of rules is preparsed once for all versions of the set: its key is the serials of its rules, and a serial always means
 * the same text of the same rule. The engine's cache of preparsed sets has no delete, but reusing a slot name frees its content. So
 * slots have fixed names, and the least recently used one is reused. A new instance of the engine has an empty cache.
 */
import type { Engine, PolicyJson } from '../cedar/engine.ts'
import { parseStored } from '../cedar/parse.ts'
import { atOnce, inPieces } from './pieces.ts'
import { type RuleGroup, sharedGroups } from './rule-index.ts'
import { type PolicyRule, type ReadRule, type RuleSet, type SortedRules, sortRules, statementFor } from './rule-set.ts'

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
  /** The name of the slot that holds a group, preparsed. Valid until the next call. */
  slot(group: RuleGroup<ReadRule>): string
  /** The size of the engine's current content, in rules. */
  held(): number
}

/** The fixed cost of a group in addition to its rules, in rules. */
const groupWeight = 1

/** So many rules of a subset are preparsed before the first question: a rule that lists many actions can be in as many groups. */
const mostPrepared = 10_000

type Slot = { name: string; weight: number }
type Shelf = { slots: Map<string, Slot>; freeNames: string[]; nameCount: number; held: number; faults: number }

/** The parsed rules of each rule set that is still referenced, by the identity of its list of rules. */
const sortedSets = new WeakMap<readonly PolicyRule[], SortedRules>()

/**
 * Rule sets in a separate engine, at most `limit` rules preparsed (2.9 KB each); a group larger than that is held alone. Every
 * function except `prepare` and `read` may throw the engine's errors, or an Error for rules that do not parse.
 */
export function createRuleSetCache(engine: Engine, limit: number): RuleSetCache {
  let shelf = emptyShelf(engine)
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
        slot(group)
        prepared += group.rules.length + groupWeight
        if (prepared >= mostPrepared) break
        yield
      }
    }
  }

  function slot(group: RuleGroup<ReadRule>): string {
    const { key, rules } = group
    if (shelf.faults !== engine.faults()) shelf = emptyShelf(engine)
    const present = shelf.slots.get(key)
    if (present !== undefined) {
      shelf.slots.delete(key)
      shelf.slots.set(key, present)
      return present.name
    }
    const weight = rules.length + groupWeight
    makeRoom(engine, shelf, limit - weight)
    const name = shelf.freeNames.pop() ?? `rules-${shelf.nameCount++}`
    preparse(engine, name, group)
    shelf.slots.set(key, { name, weight })
    shelf.held += weight
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
    held: () => shelf.held,
  }
}

function emptyShelf(engine: Engine): Shelf {
  return { slots: new Map(), freeNames: [], nameCount: 0, held: 0, faults: engine.faults() }
}

/** Evicts the least recently used groups until at most `target` rules are held. */
function makeRoom(engine: Engine, shelf: Shelf, target: number): void {
  for (const [key, { name, weight }] of shelf.slots) {
    if (shelf.held <= target) return
    preparse(engine, name, { rules: [] })
    shelf.freeNames.push(name)
    shelf.held -= weight
    shelf.slots.delete(key)
  }
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

/**
 * Rule sets as decisions need them: what was read of their rules, and what the engine holds of them preparsed.
 *
 * A group of rules is preparsed once, whichever versions of the set it belongs to: it goes by the serials of its rules, and
 * a serial is one text of one rule for ever. The engine's cache of preparsed sets has no delete, but a slot name used again
 * frees what it held. So slots have fixed names, and the least recently used give theirs up. A new instance of the engine
 * holds nothing.
 */
import type { Engine } from '../cedar/engine.ts'
import { parseStored } from '../cedar/parse.ts'
import { atOnce, inPieces } from './pieces.ts'
import { groupsOfAll, type RuleGroup } from './rule-index.ts'
import { type PolicyRule, type ReadRule, type RuleSet, type SortedRules, sortRules } from './rule-set.ts'

export type RuleSetCache = {
  /** The rules, sorted; kept for the next time, as long as the rule set is. */
  sorted(ruleSet: RuleSet): SortedRules
  /**
   * Does what a decision would else have to do first, in pieces between which other work goes on. What `before`, an earlier
   * version or what a draft changes, has in common with it is not read again. Never throws: what fails, fails the decision.
   */
  prepare(ruleSet: RuleSet, before?: RuleSet): Promise<void>
  /** The same as far as the rules are read, for few questions: each has the engine hold what it needs itself. */
  read(ruleSet: RuleSet, before?: RuleSet): Promise<void>
  /** Name of the slot that holds a group, preparsed. Until the next call. */
  slot(group: RuleGroup<ReadRule>): string
  /** What the engine holds now, in rules. */
  held(): number
}

/** What a group costs beside its rules, in rules. */
const groupWeight = 1

type Slot = { name: string; weight: number }
type Shelf = { slots: Map<string, Slot>; freeNames: string[]; nameCount: number; held: number; faults: number }

/** What was read of each rule set that somebody still holds, by its very list of rules. */
const sortedSets = new WeakMap<readonly PolicyRule[], SortedRules>()

/**
 * Rule sets in an engine of their own, at most `limit` rules preparsed (2.9 KB each); one group larger than that is held
 * alone. Every function but `prepare` and `read` may throw what the engine throws, or an Error for rules that do not parse.
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
    for (const index of Object.values(subsets))
      for (const group of groupsOfAll(index)) {
        slot(group)
        yield
      }
  }

  function slot({ key, rules }: RuleGroup<ReadRule>): string {
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
    preparse(engine, name, rules)
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

/** Gives up the least recently used until at most `target` is held. */
function makeRoom(engine: Engine, shelf: Shelf, target: number): void {
  for (const [key, { name, weight }] of shelf.slots) {
    if (shelf.held <= target) return
    preparse(engine, name, [])
    shelf.freeNames.push(name)
    shelf.held -= weight
    shelf.slots.delete(key)
  }
}

function preparse(engine: Engine, name: string, rules: readonly ReadRule[]): void {
  const staticPolicies = Object.fromEntries(rules.map(({ id, text }) => [id, text]))
  const answer = engine.use((cedar) => cedar.preparsePolicySet(name, { staticPolicies }))
  if (answer.type === 'failure') throw new Error(answer.errors[0]?.message ?? 'the rules do not parse')
}

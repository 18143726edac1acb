/**
 * What the engine holds between questions: rule sets and schemas, preparsed.
 *
 * The engine's cache of preparsed sets has no delete, but a slot name used again frees what it held. So slots have fixed
 * names, and the least recently used give theirs up. A new instance of the engine holds nothing.
 */
import type { Engine, PolicyJson } from '../cedar/engine.ts'
import { approveAction, schemaWith, unnamedAction } from '../cedar/schema.ts'
import { type PolicyRule, type RuleSet, type SortedRules, type Subset, sortRules } from './rule-set.ts'

export type RuleSetCache = {
  /** The rules, sorted; kept for the next time. */
  sorted(ruleSet: RuleSet): SortedRules
  /** Name of the slot that holds a subset, preparsed. */
  slot(ruleSet: RuleSet, subset: Subset): string
  /** What is held now, in rules: each once as text and once for each subset it is preparsed in. */
  held(): number
}

/** What an entry costs beside its rules, in rules. */
const entryWeight = 10

type Entry = { sorted: SortedRules; count: number; slots: Map<Subset, string>; held: number }
type Shelf = { entries: Map<string, Entry>; freeSlots: string[]; slotCount: number; held: number; faults: number }

/**
 * Rule sets preparsed in an engine of their own, at most `limit` rules as `held` counts (2.9 KB each); one rule set larger
 * than that is held alone. Every function may throw what the engine throws, or an Error for rules that do not parse.
 */
export function createRuleSetCache(engine: Engine, limit: number): RuleSetCache {
  let shelf = emptyShelf(engine)

  function entryOf(ruleSet: RuleSet): Entry {
    if (shelf.faults !== engine.faults()) shelf = emptyShelf(engine)
    const key = JSON.stringify([ruleSet.tenant_id, ruleSet.version])
    const count = ruleSet.rules.length
    let entry = shelf.entries.get(key)
    if (entry !== undefined && entry.count !== count) throw new Error('two rule sets go by one version')
    if (entry === undefined) {
      const held = count + entryWeight
      makeRoom(engine, shelf, limit - held)
      entry = { sorted: sortRules(ruleSet.rules, readWith(engine)), count, slots: new Map(), held }
      shelf.held += held
    }
    shelf.entries.delete(key)
    shelf.entries.set(key, entry)
    return entry
  }

  return {
    sorted: (ruleSet) => entryOf(ruleSet).sorted,
    slot(ruleSet, subset) {
      const entry = entryOf(ruleSet)
      const present = entry.slots.get(subset)
      if (present !== undefined) return present
      const rules = entry.sorted.subsets[subset]
      makeRoom(engine, shelf, limit - rules.length, entry)
      const name = shelf.freeSlots.pop() ?? `rules-${shelf.slotCount++}`
      preparse(engine, name, rules)
      entry.slots.set(subset, name)
      entry.held += rules.length
      shelf.held += rules.length
      return name
    },
    held: () => shelf.held,
  }
}

function emptyShelf(engine: Engine): Shelf {
  return { entries: new Map(), freeSlots: [], slotCount: 0, held: 0, faults: engine.faults() }
}

/** Gives up the least recently used until at most `target` is held, but never `keep`. */
function makeRoom(engine: Engine, shelf: Shelf, target: number, keep?: Entry): void {
  for (const [key, entry] of shelf.entries) {
    if (shelf.held <= target) return
    if (entry === keep) continue
    for (const name of entry.slots.values()) {
      preparse(engine, name, [])
      shelf.freeSlots.push(name)
    }
    shelf.held -= entry.held
    shelf.entries.delete(key)
  }
}

function preparse(engine: Engine, name: string, rules: readonly PolicyRule[]): void {
  const staticPolicies = Object.fromEntries(rules.map((rule) => [rule.id, rule.policy_text]))
  const answer = engine.use((cedar) => cedar.preparsePolicySet(name, { staticPolicies }))
  if (answer.type === 'failure') throw new Error(answer.errors[0]?.message ?? 'the rules do not parse')
}

/** Parses stored rules. The engine has seen each of them before, as text from a user. */
function readWith(engine: Engine): (rule: PolicyRule) => PolicyJson {
  return (rule) => {
    const answer = engine.use((cedar) => cedar.policyToJson(rule.policy_text))
    if (answer.type === 'success') return answer.json
    throw new Error(`rule \`${rule.id}\` does not parse: ${answer.errors[0]?.message}`)
  }
}

/**
 * Preparsed schemas, at most `limit`; the function returned gives the name of the one for asking an action: one that rules
 * name, `unnamedAction` or `approve`. A schema holds that action and no other of the tenant's, because each action in it
 * would make every question a microsecond slower.
 */
export function createSchemaCache(engine: Engine, limit: number): (action: string) => string {
  const names = new Map<string, string>()
  let faults = engine.faults()
  return (action) => {
    if (faults !== engine.faults()) {
      faults = engine.faults()
      names.clear()
    }
    let name = names.get(action)
    if (name === undefined) {
      name = names.size < limit ? `schema-${names.size}` : takeOldest(names)
      const schema = schemaWith([unnamedAction, approveAction, action])
      const free = name
      const answer = engine.use((cedar) => cedar.preparseSchema(free, schema))
      if (answer.type === 'failure') {
        names.clear()
        throw new Error(answer.errors[0]?.message ?? 'the schema does not parse')
      }
    }
    names.delete(action)
    names.set(action, name)
    return name
  }
}

function takeOldest(names: Map<string, string>): string {
  const [action, name] = names.entries().next().value as [string, string]
  names.delete(action)
  return name
}

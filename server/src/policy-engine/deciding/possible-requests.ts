/**
 * What the rules make possible for one person, read from their scopes: which resources and actions the permits name. No answer: what
 * is possible here is still to be evaluated, and what is not needs no evaluation, because no permit covers it.
 */
import type { Principal, Resource, ResourceReference } from '../cedar/question.ts'
import type { AccountTraits } from '../cedar/reading.ts'
import { findActionFault, findIdFault, maxActionLength } from '../cedar/reference-faults.ts'
import { type AskedType, ancestorTypes, askedTypes } from '../cedar/schema.ts'
import type { ApprovalMode, Effect } from '../rule.ts'
import { type PolicyEvaluator, policyEvaluator } from './evaluate.ts'
import { entityFits, reachOf } from './keyed-scope.ts'
import { durationsNamedIn, readsDuration } from './named-durations.ts'
import { mayMindTime } from './reads-time.ts'
import type { ReadRule, RuleSet, SortedRules } from './rule-set.ts'

/** A rule about requests. */
export type AskRule = Pick<ReadRule, 'id' | 'serial' | 'effect' | 'scope'> & {
  effect: Effect
  mode: ApprovalMode | null
  /** Whether its conditions may tell apart actions that its scope covers: only those that it names. */
  readsAction: boolean
  /** Whether the answer may be another with a reason. */
  readsReason: boolean
  /** Whether the answer may be another with another duration. */
  readsDuration: boolean
  /** Whether the answer may be another at another time. */
  readsTime: boolean
  /** Whether it may read the name of a resource. */
  readsName: boolean
  /** What its conditions may read of the person: nothing, what many have in common, or who they are. */
  readsPerson: 'no' | 'rights' | 'identity'
  /** By what else it tells accounts apart. */
  traits: AccountTraits
  /** The databases that it names. */
  database_ids: readonly string[]
  /** The durations, in seconds, at which the answer may be another. */
  durations: readonly number[]
  /** The actions that it names and that can be requested. */
  actions: readonly string[]
}

/** The rules about requests of one rule set. `actions`: every action that one of them names and that can be requested, in order. */
export type AskRules = { rules: readonly AskRule[]; actions: readonly string[] }

/** By the identity of the sorted rules: the same for all people, until the rules change. */
const known = new WeakMap<SortedRules, AskRules>()
const none: AskRules = { rules: [], actions: [] }

/** None where the rules cannot be parsed, because every question is then denied. */
export function askRulesOf(ruleSet: RuleSet, evaluator: PolicyEvaluator = policyEvaluator): AskRules {
  const sorted = sortedOf(ruleSet, evaluator)
  if (sorted === undefined) return none
  const before = known.get(sorted)
  if (before !== undefined) return before
  const read = [...sorted.read.values()].filter(({ sets }) => sets.includes('ask'))
  const rules = read.map((rule) => askRuleOf(rule, sorted))
  const found = { rules, actions: [...new Set(rules.flatMap(({ actions }) => actions))].sort() }
  known.set(sorted, found)
  return found
}

function sortedOf(ruleSet: RuleSet, evaluator: PolicyEvaluator): SortedRules | undefined {
  try {
    return evaluator.rules.sorted(ruleSet)
  } catch {
    return undefined
  }
}

function isPossibleAction(action: string): boolean {
  return findActionFault(action) === undefined && action.length <= maxActionLength
}

/** A rule that spells an attribute with an escape may read any. */
const [readsReason, readsName] = [/\bhas_reason\b|\\/, /\bname\b|\\/]
/** By what a rule may know one person: their name, their address, or that they are the one whom it names. */
const readsIdentity = /\b(?:name|email|User)\b|\\/

/** A variable cannot be spelled with an escape. Its first place is the scope. */
function isInConditions(variable: 'principal' | 'action', text: string): boolean {
  return (text.match(new RegExp(`\\b${variable}\\b`, 'g')) ?? []).length > 1
}

function readsPerson(text: string): AskRule['readsPerson'] {
  if (!isInConditions('principal', text)) return 'no'
  return readsIdentity.test(text) ? 'identity' : 'rights'
}

function askRuleOf({ id, serial, effect, scope, text, reading, actions }: ReadRule, { byId }: SortedRules): AskRule {
  return {
    ...{ id, serial, effect, scope, traits: reading.traits, database_ids: reading.database_ids },
    mode: byId.get(id)?.approval_mode ?? null,
    readsAction: isInConditions('action', text),
    readsReason: readsReason.test(text),
    readsDuration: readsDuration(text),
    readsTime: mayMindTime(text),
    readsName: readsName.test(text),
    readsPerson: readsPerson(text),
    durations: durationsNamedIn(text),
    actions: actions.filter(isPossibleAction),
  }
}

/** Those of the rules that can concern the person. */
export function rulesAbout(rules: readonly AskRule[], { id, group_ids, role_ids }: Principal): AskRule[] {
  const ancestors = [
    ...group_ids.map((group) => ({ type: 'Group', id: group })),
    ...role_ids.map((role) => ({ type: 'Role', id: role })),
  ]
  const reach = reachOf({ type: 'User', id }, ancestors)
  return rules.filter(({ scope }) => entityFits(scope.principal, reach))
}

/** Those of the rules that can concern the resource. */
export function rulesOn(rules: readonly AskRule[], resource: Resource): AskRule[] {
  const reach = reachOf(resource, resource.parents)
  return rules.filter(({ scope }) => entityFits(scope.resource, reach))
}

/** Those of the rules that can concern the action. */
export function rulesFor(rules: readonly AskRule[], action: string): AskRule[] {
  return rules.filter(({ scope }) => scope.actions === undefined || scope.actions.includes(action))
}

/** All of the account that the rules can read. Their scopes fit it, so only conditions can still tell it from another. */
export function accountAsRead(rules: readonly AskRule[], { id, name, tags, parents }: Resource): unknown[] {
  const isNamed = namesAccount(rules, id)
  const units = parents.filter((unit) => rules.some(({ traits }) => traits.unit_ids.includes(unit.id)))
  const readsAll = rules.some(({ traits }) => traits.tags === 'all')
  const keys = readsAll ? Object.keys(tags) : [...new Set(rules.flatMap(({ traits }) => traits.tags))]
  return [
    isNamed && id,
    rules.some(({ readsName }) => readsName) && name,
    units.map((unit) => unit.id).sort(),
    keys.sort().map((key) => [key, Object.hasOwn(tags, key) ? tags[key] : null]),
  ]
}

/** The same of a database, which has the tags and the units of its account. */
export function databaseAsRead(rules: readonly AskRule[], database: Resource): unknown[] {
  const account = database.parents.find(({ type, id }) => type === 'cloud_account' && namesAccount(rules, id))
  const isNamed = rules.some(({ database_ids }) => database_ids.includes(database.id))
  return ['database', isNamed && database.id, account?.id ?? null, ...accountAsRead(rules, database)]
}

function namesAccount(rules: readonly AskRule[], id: string): boolean {
  return rules.some(({ traits }) => traits.account_ids.includes(id))
}

/** The actions that a permit among these rules covers, in order. A permit of any action covers those that other rules name. */
export function possibleActions(rules: readonly AskRule[], { actions }: AskRules): readonly string[] {
  const covered = new Set<string>()
  for (const { effect, scope } of rules) {
    if (effect !== 'permit') continue
    if (scope.actions === undefined) return actions
    for (const action of scope.actions) if (isPossibleAction(action)) covered.add(action)
  }
  return [...covered].sort()
}

/** The same with further actions, which a permit of any action covers as well. */
export function withActions({ rules, actions }: AskRules, further: readonly string[]): AskRules {
  return { rules, actions: [...new Set([...actions, ...further.filter(isPossibleAction)])].sort() }
}

/** Whether a permit among these rules covers actions that no rule names. */
export function coversAnyAction(rules: readonly AskRule[]): boolean {
  return rules.some(({ effect, scope }) => effect === 'permit' && scope.actions === undefined)
}

/** The resources that permits among these rules name in their scopes, each once, by type and id. */
export function namedResources(rules: readonly AskRule[]): ResourceReference[] {
  const named = new Map<string, ResourceReference>()
  for (const { effect, scope } of rules) {
    const key = scope.resource.is ?? scope.resource.within
    const reference = effect === 'permit' && key !== undefined ? referenceOf(key) : undefined
    if (key !== undefined && reference !== undefined) named.set(key, reference)
  }
  return [...named.values()].sort((one, other) => (resourceOrder(one) < resourceOrder(other) ? -1 : 1))
}

/** Whether a permit among these rules covers resources of the type that it does not name, by its scope. */
export function coversUnnamed(rules: readonly AskRule[], type: AskedType): boolean {
  const containers = ancestorTypes(type).filter((one) => one !== type)
  return rules.some(({ effect, scope: { resource } }) => {
    const isOfType = resource.is === undefined && (resource.type ?? type) === type
    const within = resource.within?.split(' ', 1)[0]
    return effect === 'permit' && isOfType && (within === undefined || containers.some((one) => one === within))
  })
}

/** Resources of several types in the order of these texts; the position of a type is one digit. */
export function resourceOrder({ type, id }: ResourceReference): string {
  return `${askedTypes.indexOf(type)} ${id}`
}

/** Undefined for what cannot be requested. */
function referenceOf(key: string): ResourceReference | undefined {
  const space = key.indexOf(' ')
  const reference = { type: key.slice(0, space) as AskedType, id: key.slice(space + 1) }
  return askedTypes.includes(reference.type) && findIdFault(reference) === undefined ? reference : undefined
}

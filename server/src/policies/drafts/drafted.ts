/** Applies a draft to the current rules. */
import { periodicYield } from '../../kernel/yield-to-event-loop.ts'
import type { PolicyRule, RuleSet } from '../../policy-engine/deciding/rule-set.ts'
import type { RuleInput } from '../../policy-engine/rule.ts'
import { changeRule } from '../rule-change.ts'
import type { Change, Draft, DraftPolicy, DraftRule } from './draft.ts'
import {
  type DraftOf,
  decidedBy,
  emptyWork,
  fault,
  newRule,
  nextOrdinal,
  type Present,
  pointed,
  putPolicy,
  putRule,
  type Work,
} from './draft-work.ts'

/** For calls of these functions beside the main thread. */
export const draftedModule = import.meta.url

/** The current rules and the draft's, both ready for decisions. */
export type Drafted = {
  before: RuleSet
  /** Its version is `draft:<id of the draft>:<current version>` and, like every version, always means the same set of rules. */
  after: RuleSet
  /** Ids of the rules that are in force only in the draft. */
  added: string[]
  /** Ids of the rules that are in force in both, with a changed text or place. */
  changed: string[]
  /** Ids of the rules that are in force now but not in the draft. */
  removed: string[]
  /** The place in the draft, a JSON pointer, of each rule that it adds or changes, by the rule's id. */
  pointers: ReadonlyMap<string, string>
}

/**
 * Applies a draft to the current rules. Each rule in it is checked like a rule to be saved; a rule identical to a current one is not
 * parsed again. Yields to the event loop between two rules.
 * @throws Problem `invalid_policy`, `invalid_input` or `unprocessable`, with a pointer to the fault.
 */
export async function applyDraft(present: Present, draft: Draft, of: DraftOf): Promise<Drafted> {
  const work = emptyWork(of)
  if (draft.policies !== undefined) await bringSet(work, present, draft.policies)
  else await bringChanges(work, present, draft.changes ?? [])
  return compared(work, present)
}

function compared({ of, policies, rules, pointers }: Work, { tenant_id, version, ...present }: Present): Drafted {
  const enabled = new Set(present.policies.filter((policy) => policy.enabled).map(({ id }) => id))
  const before = present.rules.filter(({ policy_id }) => enabled.has(policy_id))
  const after = [...rules.values()].flatMap((rule) => {
    const policy = policies.get(rule.policy_id)
    if (policy?.enabled !== true) return []
    return policy.priority === rule.priority ? rule : { ...rule, priority: policy.priority }
  })
  const byId = new Map(before.map((rule) => [rule.id, rule]))
  const stays = new Set(after.map(({ id }) => id))
  return {
    before: { tenant_id, version, rules: before },
    after: { tenant_id, version: `draft:${of.id}:${version}`, rules: after },
    added: after.flatMap(({ id }) => (byId.has(id) ? [] : id)),
    changed: after.flatMap((rule) => (byId.has(rule.id) && byId.get(rule.id) !== rule ? rule.id : [])),
    removed: before.flatMap(({ id }) => (stays.has(id) ? [] : id)),
    pointers,
  }
}

// ── A whole set ────────────────────────────────────────────────────────────────────────────────────────────────────────

async function bringSet(work: Work, present: Present, policies: readonly DraftPolicy[]): Promise<void> {
  const yieldToEventLoop = periodicYield()
  const find = findPresent(present, policies)
  const known = new Set(present.policies.map(({ id }) => id))
  for (const [index, { id: sent_id, rules, ...policy }] of policies.entries()) {
    const at = `${work.of.pointer}/policies/${index}`
    const id = sent_id?.toLowerCase()
    if (id !== undefined && !known.has(id)) throw fault(`${at}/id`, 'names no policy of this tenant')
    if (id !== undefined && work.policies.has(id))
      throw fault(`${at}/id`, 'names a policy that is already in the draft')
    const policy_id = putPolicy(work, { ...policy, id }, at)
    for (const [place, rule] of rules.entries()) {
      bringRule(work, find, { rule, policy_id, at: `${at}/rules/${place}` })
      await yieldToEventLoop()
    }
  }
}

type Brought = { rule: DraftRule; policy_id: string; at: string }
/** The current rule that corresponds to a rule of the draft: by its id, else by its text. */
type Find = (words: RuleWords & { id?: string | undefined }, policy_id: string) => PolicyRule | undefined

function bringRule(work: Work, find: Find, { rule: { id: sent_id, ...input }, policy_id, at }: Brought): void {
  const id = sent_id?.toLowerCase()
  const { ordinal, policy_text, ...beside } = input
  // Where the sent text equals the stored one, parsing it would give nothing new: the same text always is the same statement.
  const sent = policy_text === undefined ? undefined : { ...beside, id, policy_text }
  let known = sent && find(sent, policy_id)
  let made: PolicyRule | undefined
  if (known === undefined || sent === undefined || wordsOf(sent) !== wordsOf(known)) {
    made = newRule(work, input, policy_id, at)
    known ??= find({ ...made, id }, policy_id)
  }
  if (known !== undefined) putRule(work, placed(work, { known, made, ordinal, policy_id, at }))
  else if (id === undefined && made !== undefined) putRule(work, made, at)
  else throw fault(`${at}/id`, 'names no rule of this tenant')
}

type DraftedRule = {
  known: PolicyRule
  made: PolicyRule | undefined
  ordinal: number | undefined
  policy_id: string
  at: string
}

/** A current rule as the draft has it: the same object where nothing changed. */
function placed(work: Work, { known, made, ordinal: wanted, policy_id, at }: DraftedRule): PolicyRule {
  if (work.rules.has(known.id)) throw fault(`${at}/id`, 'names a rule that is already in the draft')
  const stays = known.policy_id === policy_id
  const ordinal = wanted ?? (stays ? known.ordinal : nextOrdinal(work, policy_id))
  const reworded = made !== undefined && wordsOf(made) !== wordsOf(known)
  if (!reworded && stays && ordinal === known.ordinal) return known
  work.pointers.set(known.id, at)
  // No call moves a rule to another policy: somebody writes it there, and from then on it is theirs.
  const as_saved = stays ? known : { ...known, saved_by: work.of.author }
  return { ...(reworded ? made : as_saved), id: known.id, policy_id, ordinal }
}

/** The content of a rule, without its place. */
type RuleWords = Pick<RuleInput, 'audit_session'> & {
  policy_text: string
  notice?: string | null | undefined
  approval_mode?: string | null | undefined
}

function wordsOf({ policy_text, notice, audit_session, approval_mode }: RuleWords): string {
  return JSON.stringify([policy_text, notice || null, audit_session ?? false, approval_mode ?? null])
}

function findPresent({ rules }: Present, policies: readonly DraftPolicy[]): Find {
  const byId = new Map(rules.map((rule) => [rule.id, rule]))
  const named = new Set(policies.flatMap((policy) => policy.rules.flatMap(({ id }) => id?.toLowerCase() ?? [])))
  const byWords = Map.groupBy(
    rules.filter(({ id }) => !named.has(id)),
    wordsOf,
  )
  return ({ id, ...words }, policy_id) => {
    if (id !== undefined) return byId.get(id)
    // Each is matched once, preferably to a rule of its own policy.
    const alike = byWords.get(wordsOf(words)) ?? []
    const here = alike.findIndex((rule) => rule.policy_id === policy_id)
    return alike.splice(Math.max(0, here), 1)[0]
  }
}

// ── Changes of the present set ─────────────────────────────────────────────────────────────────────────────────────────

async function bringChanges(work: Work, present: Present, changes: readonly Change[]): Promise<void> {
  const yieldToEventLoop = periodicYield()
  for (const policy of present.policies) work.policies.set(policy.id, policy)
  for (const rule of present.rules) putRule(work, rule)
  for (const [index, change] of changes.entries()) {
    await bringChange(work, present, change, `${work.of.pointer}/changes/${index}`)
    await yieldToEventLoop()
  }
}

async function bringChange(work: Work, present: Present, change: Change, at: string): Promise<void> {
  const { create_rule, update_rule, delete_rule, create_policy, update_policy, delete_policy } = change
  if (create_rule !== undefined) {
    const { id } = policyAt(work, create_rule.policy_id, `${at}/create_rule`)
    const place = `${at}/create_rule/rule`
    putRule(work, newRule(work, create_rule.rule, id, place), place)
  }
  if (update_rule !== undefined) updateRule(work, present, update_rule, `${at}/update_rule`)
  if (delete_rule !== undefined) work.rules.delete(ruleAt(work, delete_rule.rule_id, `${at}/delete_rule`).id)
  if (create_policy !== undefined) await createPolicy(work, create_policy, `${at}/create_policy`)
  if (update_policy !== undefined) {
    const policy = policyAt(work, update_policy.policy_id, `${at}/update_policy`)
    work.policies.set(policy.id, { ...policy, enabled: update_policy.enabled })
  }
  if (delete_policy !== undefined) {
    const { id } = policyAt(work, delete_policy.policy_id, `${at}/delete_policy`)
    work.policies.delete(id)
    for (const rule of work.rules.values()) if (rule.policy_id === id) work.rules.delete(rule.id)
  }
}

function updateRule(work: Work, present: Present, change: NonNullable<Change['update_rule']>, at: string): void {
  const rule = ruleAt(work, change.rule_id, at)
  const before = present.in_full.get(rule.id)
  if (before === undefined || work.pointers.has(rule.id))
    throw fault(`${at}/rule_id`, 'names a rule that the draft has already changed')
  const made = pointed(`${at}/rule`, () => changeRule(before, change.rule))
  if (made === undefined) return
  const { ordinal, statement } = made
  const words = statement && { ...decidedBy(statement.fields), saved_by: work.of.author }
  putRule(work, { ...rule, ...words, ordinal }, `${at}/rule`)
}

async function createPolicy(
  work: Work,
  { rules = [], ...policy }: NonNullable<Change['create_policy']>,
  at: string,
): Promise<void> {
  const yieldToEventLoop = periodicYield()
  const id = putPolicy(work, policy, at)
  for (const [index, rule] of rules.entries()) {
    const place = `${at}/rules/${index}`
    putRule(work, newRule(work, rule, id, place), place)
    await yieldToEventLoop()
  }
}

function policyAt(work: Work, sent_id: string, at: string) {
  const policy = work.policies.get(sent_id.toLowerCase())
  if (policy === undefined) throw fault(`${at}/policy_id`, 'names no policy of this tenant')
  return policy
}

function ruleAt(work: Work, sent_id: string, at: string): PolicyRule {
  const rule = work.rules.get(sent_id.toLowerCase())
  if (rule === undefined) throw fault(`${at}/rule_id`, 'names no rule of this tenant')
  return rule
}

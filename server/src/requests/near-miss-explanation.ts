/** A near miss as it is explained, and which of its fields a requester may see. */
import { type Static, Type } from 'typebox'
import { Nullable, OneOf, Uuid } from '../http/schema.ts'
import { type Circumstance, numberIn } from '../policy-engine/cedar/circumstance.ts'
import { textEngine } from '../policy-engine/cedar/engine.ts'
import { parseStored, printConditions } from '../policy-engine/cedar/parse.ts'
import { type AskQuestion, actionAskedOn, type Resource } from '../policy-engine/cedar/question.ts'
import { scopeFromEngine } from '../policy-engine/cedar/scope.ts'
import { resourceName } from '../policy-engine/deciding/decision-text.ts'
import type { PolicyRule } from '../policy-engine/deciding/rule-set.ts'
import type { Changeable, RequestBounds } from '../policy-engine/near-misses/change.ts'
import { circumstanceWords, type WantedWords } from '../policy-engine/near-misses/circumstance-words.ts'
import {
  actionWords,
  type ConditionWords,
  conditionWords,
  type Known,
  scopeWords,
} from '../policy-engine/near-misses/condition-words.ts'
import type { Side } from '../policy-engine/near-misses/near-rule.ts'
import type { Part } from '../policy-engine/near-misses/part.ts'
import type { Flaw, NearMiss } from '../policy-engine/near-misses/stage.ts'
import { approvalModes } from '../policy-engine/rule.ts'

/** The circumstances of a request that its requester can change, in the order in which they are listed. */
const ownKinds = [
  'action',
  'account',
  'duration_seconds',
  'has_reason',
  'via',
  'minute',
  'weekday',
  'now',
  'source_ip',
  'break_glass',
] as const
/** What else a rule may test. */
const otherKinds = ['tag', 'name', 'principal', 'resource', 'condition'] as const

const kind = OneOf([...ownKinds, ...otherKinds], { description: 'what would have to change' })
const wanted = Type.String({ description: 'what the rule wants, in words' })
const given = Type.String({ description: 'what the request has instead, in words' })
const duration_seconds = Type.Optional(
  Type.Integer({ description: 'for that kind: the nearest duration that meets the rule' }),
)
const action = Type.Optional(Type.String({ description: 'for that kind: the action that may have been meant' }))

export const NearMissExplanation = Type.Object(
  {
    kind,
    words: Type.String({ description: 'the explanation, as a sentence' }),
    wanted,
    given,
    approval_mode: Nullable(OneOf(approvalModes, { description: 'how the request would then be approved' })),
    duration_seconds,
    action,
    also: Type.Optional(
      Type.Object(
        { kind, wanted, given, duration_seconds, action },
        { description: 'what would have to change too, where one change is not enough' },
      ),
    ),
    rule_id: Type.Optional(Uuid),
    policy_name: Type.Optional(
      Type.String({ description: 'the policy of the rule; like `rule_id` only with policies:read' }),
    ),
    condition: Type.Optional(
      Type.String({ description: 'the condition as the rule states it; only with policies:read' }),
    ),
  },
  { title: 'NearestMiss' },
)
export type NearMissExplanation = Static<typeof NearMissExplanation>

/** What the requester may know of rules, and of resources other than the requested one. */
export type Viewer = { mayReadRules: boolean; mayReadAccounts: boolean }

/** What an explanation is written from, and how much it may show. */
export type ExplanationLimits = { question: AskQuestion; bounds: RequestBounds; viewer: Viewer }

const maxShown = 5

/** The misses to show, the most useful first. */
export function selectShown(misses: readonly NearMiss[], { question, viewer }: ExplanationLimits): NearMiss[] {
  const ranked = misses.toSorted(
    (a, b) => rank(a) - rank(b) || distance(a, question) - distance(b, question) || (a.rule.id < b.rule.id ? -1 : 1),
  )
  if (viewer.mayReadRules) return ranked.slice(0, maxShown)
  const fixable = ranked.filter(isOwn)
  const kindsOf = (miss: NearMiss) => `${rank(miss)} ${miss.also && rank(miss.also)}`
  return fixable
    .filter((miss, index) => fixable.findIndex((one) => kindsOf(one) === kindsOf(miss)) === index)
    .slice(0, maxShown)
}

/**
 * Whether the requester could find the miss out by another request, from elsewhere or later. Showing it then reveals nothing new.
 * One miss of each kind is enough, and does not reveal how many rules there are.
 */
function isOwn({ change, also }: NearMiss): boolean {
  return change !== undefined && (also === undefined || also.change !== undefined)
}

/** Misses that the requester can change come first, then rules whose scope matches the question, then rules whose scope nearly does. */
function rank({ change, side }: Flaw): number {
  if (change !== undefined) return ownKinds.indexOf(change.circumstance)
  return ownKinds.length + (side === undefined ? 0 : 1 + sides.indexOf(side))
}

const sides = ['principal', 'action', 'resource'] as const

function distance({ change }: NearMiss, { context }: AskQuestion): number {
  if (change === undefined || !isCircumstance(change.circumstance)) return 0
  return Math.abs(numberIn(change.question.context, change.circumstance) - numberIn(context, change.circumstance))
}

function isCircumstance(changed: Changeable): changed is Circumstance {
  return changed !== 'source_ip' && changed !== 'action' && changed !== 'account'
}

function onOneLine(code: string): string {
  const lines = code.split('\n').map((line) => line.trim())
  return lines.filter((line) => line !== '').join(' ')
}

/** The names for people who may read them: of policies by id, and the words for groups, roles and people by `entityKey`. */
export type Names = { policies: ReadonlyMap<string, string>; people: ReadonlyMap<string, string> }

/** A rule by its policy and its place there, for callers who may read rules. Its id stands in a field of its own. */
export function ruleName(rule: Pick<PolicyRule, 'id' | 'policy_id' | 'ordinal' | 'notice'>, names: Names): string {
  const policy = names.policies.get(rule.policy_id)
  const name = policy === undefined ? `rule \`${rule.id}\`` : `rule ${rule.ordinal} of the policy “${policy}”`
  return rule.notice ? `${name} (${rule.notice})` : name
}

/** The near miss in words, as much of it as the requester may know. */
export function explain(miss: NearMiss, limits: ExplanationLimits, names: Names): NearMissExplanation {
  const { rule, part, approval_mode } = miss
  const { mayReadRules } = limits.viewer
  const code = part && codeOf(part)
  const one = shownFlaw(miss, miss.resource, limits, names)
  const also = miss.also && shownFlaw(miss.also, miss.resource, limits, names)
  const policy_name = names.policies.get(rule.policy_id)
  return {
    ...one,
    words: sentence(miss, [one, ...(also === undefined ? [] : [also])], limits, names),
    approval_mode,
    ...(also && { also }),
    ...(mayReadRules && { rule_id: rule.id }),
    ...(mayReadRules && policy_name !== undefined && { policy_name }),
    ...(mayReadRules && code !== undefined && { condition: clipped(code) }),
  }
}

type ShownFlaw = NonNullable<NearMissExplanation['also']>

function shownFlaw(flaw: Flaw, resource: Resource, limits: ExplanationLimits, names: Names): ShownFlaw {
  const { change } = flaw
  return {
    ...wordsFor(flaw, resource, limits, names),
    ...(change?.circumstance === 'duration_seconds' && {
      duration_seconds: change.question.context.duration_seconds - (limits.bounds.held_seconds ?? 0),
    }),
    ...(change?.circumstance === 'action' && { action: change.question.action }),
  }
}

/** "a rule permits this for at most 4 hours; you requested 8 hours", "for at most 4 hours no rule forbids this; …". */
function sentence(miss: NearMiss, flaws: readonly ShownFlaw[], limits: ExplanationLimits, names: Names): string {
  const rules = [miss.rule, ...(miss.also === undefined ? [] : [miss.also.rule])]
  const permit = rules.find(({ effect }) => effect === 'permit')
  const forbid = rules.find(({ effect }) => effect === 'forbid')
  const { mayReadRules } = limits.viewer
  const meant = flaws[0]?.action
  // The question with another action says itself what is wanted.
  const wants = meant === undefined ? flaws : flaws.slice(1)
  const wanted = wants.map((flaw) => flaw.wanted).join(' and ')
  const given = flaws.map((flaw) => flaw.given).join(', and ')
  const what = whatIn(miss, limits.question)
  const ends = forbid && mayReadRules ? `; ${ruleName(forbid, names)} ${preventing(forbid)}` : ''
  if (permit === undefined) {
    const none = forbid?.approval_mode === 'auto' ? 'no person has to decide' : 'no rule forbids'
    return `${wanted} ${none} ${what}; ${given}${ends}`
  }
  const does = miss.approval_mode === 'require' ? `permits ${what}` : `approves ${what} at once`
  const says = `${mayReadRules ? ruleName(permit, names) : 'a rule'} ${[does, wanted].filter((text) => text !== '').join(' ')}`
  return `${meant === undefined ? '' : `did you mean \`${meant}\`? `}${says}; ${given}${ends}`
}

function preventing({ approval_mode }: PolicyRule): string {
  return approval_mode === 'auto' ? 'has a person decide that' : 'forbids that'
}

/** What is permitted: a change was tried on every requested resource; any other miss is about one of them. */
function whatIn({ resource, change, also }: NearMiss, { resources }: AskQuestion): string {
  const several = new Set(resources.map(({ type, id }) => `${type} ${id}`)).size > 1
  const isOfAll = change !== undefined && (also === undefined || also.change !== undefined)
  return several && !isOfAll ? `this on ${resourceName(resource)}` : 'this'
}

function codeOf({ clause }: Part): string {
  return onOneLine(printConditions([clause], { field: 'conditions', text: '' }))
}

function wordsFor(
  { rule, part, side, change }: Flaw,
  resource: Resource,
  { question, bounds, viewer }: ExplanationLimits,
  { people }: Names,
): WantedWords & { kind: NearMissExplanation['kind'] } {
  if (change !== undefined) {
    const networks = viewer.mayReadRules ? part?.networks : undefined
    return { kind: change.circumstance, ...circumstanceWords(change, question, bounds, networks) }
  }
  const { principal } = question
  const mayReadAccounts = viewer.mayReadAccounts && resource.as_if === undefined
  const known = { principal, action: actionAskedOn(question, resource), resource, mayReadAccounts, people }
  const words = side === undefined ? part && conditionWords(part.clause, known) : wordsOfSide(rule, side, known)
  return words ?? { kind: 'condition', wanted: clipped(part ? codeOf(part) : ''), given: 'that is not so' }
}

function wordsOfSide(rule: PolicyRule, side: Side, known: Known): ConditionWords | undefined {
  const scope = scopeFromEngine(parseStored(textEngine, rule))
  return side === 'action' ? actionWords(scope.action, known) : scopeWords(side, scope[side], known)
}

const maxCodeLength = 500

function clipped(code: string): string {
  return code.length > maxCodeLength ? `${code.slice(0, maxCodeLength).toWellFormed()}…` : code
}

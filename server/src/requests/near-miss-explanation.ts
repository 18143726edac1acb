/** A near miss as it is explained, and which of its fields a requester may see. */
import { type Static, Type } from 'typebox'
import { Nullable, OneOf, Uuid } from '../http/schema.ts'
import { numberIn } from '../policy-engine/cedar/circumstance.ts'
import { textEngine } from '../policy-engine/cedar/engine.ts'
import { parseStored, printConditions } from '../policy-engine/cedar/parse.ts'
import { type AskQuestion, actionAskedOn } from '../policy-engine/cedar/question.ts'
import { scopeFromEngine } from '../policy-engine/cedar/scope.ts'
import { resourceName, ruleName } from '../policy-engine/deciding/decision-text.ts'
import type { Durations } from '../policy-engine/near-misses/change.ts'
import { circumstanceWords, type WantedWords } from '../policy-engine/near-misses/circumstance-words.ts'
import { actionWords, conditionWords, scopeWords } from '../policy-engine/near-misses/condition-words.ts'
import type { NearMiss } from '../policy-engine/near-misses/near-miss.ts'
import { approvalModes } from '../policy-engine/rule.ts'

/** The circumstances of a request that its requester can change, in the order in which they are listed. */
const ownKinds = [
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
const otherKinds = ['tag', 'name', 'principal', 'action', 'resource', 'condition'] as const

export const NearMissExplanation = Type.Object(
  {
    kind: OneOf([...ownKinds, ...otherKinds], { description: 'what would have to change' }),
    words: Type.String({ description: 'the explanation, as a sentence' }),
    wanted: Type.String({ description: 'what the rule wants, in words' }),
    given: Type.String({ description: 'what the request has instead, in words' }),
    approval_mode: Nullable(OneOf(approvalModes, { description: 'how the request would then be approved' })),
    duration_seconds: Type.Optional(
      Type.Integer({ description: 'for that kind: the nearest duration that meets the rule' }),
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
export type ExplanationLimits = { question: AskQuestion; durations: Durations; viewer: Viewer }

const maxShown = 5

/** The misses to show, the most useful first. */
export function selectShown(misses: readonly NearMiss[], { question, viewer }: ExplanationLimits): NearMiss[] {
  const ranked = misses.toSorted(
    (a, b) => rank(a) - rank(b) || distance(a, question) - distance(b, question) || (a.rule.id < b.rule.id ? -1 : 1),
  )
  if (viewer.mayReadRules) return ranked.slice(0, maxShown)
  const fixable = ranked.filter((miss) => isOwn(miss, question))
  return fixable
    .filter((miss, index) => fixable.findIndex((one) => rank(one) === rank(miss)) === index)
    .slice(0, maxShown)
}

/**
 * Whether the requester could find the miss out by another request, from elsewhere or later. Showing it then reveals nothing new.
 * One miss of each kind is enough, and does not reveal how many rules there are.
 */
function isOwn({ change }: NearMiss, { context }: AskQuestion): boolean {
  return change !== undefined && (change.circumstance !== 'now' || change.question.context.now > context.now)
}

/** Misses that the requester can change come first, then rules whose scope matches the question, then rules whose scope nearly does. */
function rank({ change, side }: NearMiss): number {
  if (change !== undefined) return ownKinds.indexOf(change.circumstance)
  return ownKinds.length + (side === undefined ? 0 : otherKinds.indexOf(side))
}

function distance({ change }: NearMiss, { context }: AskQuestion): number {
  if (change === undefined || change.circumstance === 'source_ip') return 0
  return Math.abs(numberIn(change.question.context, change.circumstance) - numberIn(context, change.circumstance))
}

function onOneLine(code: string): string {
  const lines = code.split('\n').map((line) => line.trim())
  return lines.filter((line) => line !== '').join(' ')
}

export function explain(
  miss: NearMiss,
  limits: ExplanationLimits,
  policyNames: ReadonlyMap<string, string>,
): NearMissExplanation {
  const { rule, change, part, approval_mode } = miss
  const { mayReadRules } = limits.viewer
  const code = part && onOneLine(printConditions([part.clause], { field: 'conditions', text: '' }))
  const { kind, wanted, given } = wordsFor(miss, code, limits)
  const does = `${mayReadRules ? ruleName(rule) : 'a rule'} ${effectInWords(miss, limits.question)}`
  const policy_name = policyNames.get(rule.policy_id)
  return {
    kind,
    words: `${does} ${wanted}; ${given}`,
    wanted,
    given,
    approval_mode,
    ...(change?.circumstance === 'duration_seconds' && { duration_seconds: change.question.context.duration_seconds }),
    ...(mayReadRules && { rule_id: rule.id }),
    ...(mayReadRules && policy_name !== undefined && { policy_name }),
    ...(mayReadRules && code !== undefined && { condition: clipped(code) }),
  }
}

function effectInWords({ rule, resource, change, approval_mode }: NearMiss, { resources }: AskQuestion): string {
  // A change was tried on every requested resource; any other miss is about one resource.
  const what = change === undefined && resources.length > 1 ? `this on ${resourceName(resource)}` : 'this'
  if (rule.effect === 'permit') return approval_mode === 'require' ? `permits ${what}` : `approves ${what} at once`
  return rule.approval_mode === 'auto' ? `does not have a person decide ${what}` : `does not forbid ${what}`
}

function wordsFor(
  { rule, resource, part, side, change }: NearMiss,
  code: string | undefined,
  { question, durations, viewer }: ExplanationLimits,
): WantedWords & { kind: NearMissExplanation['kind'] } {
  if (change !== undefined) {
    const networks = viewer.mayReadRules ? part?.networks : undefined
    return { kind: change.circumstance, ...circumstanceWords(change, question.context, durations, networks) }
  }
  const { principal } = question
  const known = {
    principal,
    action: actionAskedOn(question, resource),
    resource,
    mayReadAccounts: viewer.mayReadAccounts,
  }
  if (side !== undefined) {
    const scope = scopeFromEngine(parseStored(textEngine, rule))
    return side === 'action' ? actionWords(scope.action, known) : scopeWords(side, scope[side], known)
  }
  const words = part && conditionWords(part.clause, known)
  return words ?? { kind: 'condition', wanted: `${clipped(code ?? '')}`, given: 'that is not so' }
}

const maxCodeLength = 500

function clipped(code: string): string {
  return code.length > maxCodeLength ? `${code.slice(0, maxCodeLength).toWellFormed()}…` : code
}

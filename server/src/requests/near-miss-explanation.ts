/** A nearest miss as it is told, and to whom what of it. */
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

/** What of a request its asker can do something about, in the order in which it is told. */
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
/** What else a rule may speak of. */
const otherKinds = ['tag', 'name', 'principal', 'action', 'resource', 'condition'] as const

export const NearMissExplanation = Type.Object(
  {
    kind: OneOf([...ownKinds, ...otherKinds], { description: 'what would have to be otherwise' }),
    words: Type.String({ description: 'for a person' }),
    wanted: Type.String({ description: 'what would do, in words' }),
    given: Type.String({ description: 'what there was instead, in words' }),
    approval_mode: Nullable(OneOf(approvalModes, { description: 'what asking would come to then' })),
    duration_seconds: Type.Optional(Type.Integer({ description: 'for that kind: the nearest that would do' })),
    rule_id: Type.Optional(Uuid),
    policy_name: Type.Optional(Type.String({ description: 'of the rule; with `rule_id` for policies:read' })),
    condition: Type.Optional(Type.String({ description: 'as the rule says it; for policies:read' })),
  },
  { title: 'NearestMiss' },
)
export type NearMissExplanation = Static<typeof NearMissExplanation>

/** What somebody may know of rules and resources beside what they ask for. */
export type Listener = { mayReadRules: boolean; mayReadAccounts: boolean }

/** With whose words a miss is told. */
export type ExplanationLimits = { question: AskQuestion; durations: Durations; listener: Listener }

const maxShown = 5

/** The misses to be told, the most useful first. */
export function chosen(misses: readonly NearMiss[], { question, listener }: ExplanationLimits): NearMiss[] {
  const ranked = misses.toSorted(
    (a, b) => rank(a) - rank(b) || distance(a, question) - distance(b, question) || (a.rule.id < b.rule.id ? -1 : 1),
  )
  if (listener.mayReadRules) return ranked.slice(0, maxShown)
  const mendable = ranked.filter((miss) => isOwn(miss, question))
  return mendable
    .filter((miss, index) => mendable.findIndex((one) => rank(one) === rank(miss)) === index)
    .slice(0, maxShown)
}

/**
 * Whether the asker could find it out by asking otherwise, elsewhere or later; then telling it tells nothing new. One of each kind is
 * enough for them, and does not say how many rules there are.
 */
function isOwn({ change }: NearMiss, { context }: AskQuestion): boolean {
  return change !== undefined && (change.circumstance !== 'now' || change.question.context.now > context.now)
}

/** What the asker can change, then rules that speak of this, then those that nearly do. */
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

export function told(
  miss: NearMiss,
  telling: ExplanationLimits,
  policyNames: ReadonlyMap<string, string>,
): NearMissExplanation {
  const { rule, change, part, approval_mode } = miss
  const { mayReadRules } = telling.listener
  const code = part && onOneLine(printConditions([part.clause], { field: 'conditions', text: '' }))
  const { kind, wanted, given } = wordsOf(miss, code, telling)
  const does = `${mayReadRules ? ruleName(rule) : 'a rule'} ${doing(miss, telling.question)}`
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

function doing({ rule, resource, change, approval_mode }: NearMiss, { resources }: AskQuestion): string {
  // A change was tried on everything that is asked for; the rest is about one resource.
  const what = change === undefined && resources.length > 1 ? `this on ${resourceName(resource)}` : 'this'
  if (rule.effect === 'permit') return approval_mode === 'require' ? `permits ${what}` : `approves ${what} at once`
  return rule.approval_mode === 'auto' ? `does not have a person decide ${what}` : `does not forbid ${what}`
}

function wordsOf(
  { rule, resource, part, side, change }: NearMiss,
  code: string | undefined,
  { question, durations, listener }: ExplanationLimits,
): WantedWords & { kind: NearMissExplanation['kind'] } {
  if (change !== undefined) {
    const networks = listener.mayReadRules ? part?.networks : undefined
    return { kind: change.circumstance, ...circumstanceWords(change, question.context, durations, networks) }
  }
  const { principal } = question
  const known = {
    principal,
    action: actionAskedOn(question, resource),
    resource,
    mayReadAccounts: listener.mayReadAccounts,
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

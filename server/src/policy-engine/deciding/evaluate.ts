/** Evaluates one question over one subset of the rules, and checks whether Cedar's answer can be trusted. */
import { createEngine, decisionEngine, type Engine } from '../cedar/engine.ts'
import { type EngineQuestion, type LiteralFacts, withLiterals } from '../cedar/question.ts'
import { type Reading, unitedReadings } from '../cedar/reading.ts'
import { unnamedAction } from '../cedar/schema.ts'
import { withoutUnread } from '../cedar/unread.ts'
import { groupsFor, type Twins } from './rule-index.ts'
import { type AskSubset, inOrder, type PolicyRule, type RuleSet, type Subset, takesPart } from './rule-set.ts'
import { createRuleSetCache, type RuleSetCache } from './rule-set-cache.ts'
import { partsOfGroup } from './rule-weight.ts'
import { createSchemaCache } from './schema-cache.ts'

/** A failure while a rule was evaluated; `rule_id` is null where the question or the engine failed. */
export type RuleError = { rule_id: string | null; message: string }

/**
 * The answer to one question. INVARIANT: `allowed` only if Cedar allows by a permit of these rules, no forbid matched and
 * none failed.
 */
export type Answer = {
  allowed: boolean
  /** Permits that matched, in order; empty unless Cedar allowed. */
  permits: PolicyRule[]
  /** Forbids that matched, in order. */
  forbids: PolicyRule[]
  /** Forbids that could not be evaluated, in order; they count as matching. */
  failedForbids: PolicyRule[]
  errors: RuleError[]
  /** Why there is no answer. */
  fault?: string
}

/** An engine with its caches, on which decisions are taken. */
export type PolicyEvaluator = {
  engine: Engine
  rules: RuleSetCache
  schemaFor: (action: string) => string
  /** Called after each evaluation with its duration, and with the fault where there was no answer; for metrics. */
  onAnswer?: (seconds: number, fault: string | undefined) => void
}

/** A separate evaluator. `limits`: the bytes of rules and the number of schemas held preparsed. */
export function createPolicyEvaluator(
  engine: Engine,
  limits = { bytes: 48 * 2 ** 20, schemas: 1_000 },
): PolicyEvaluator {
  const { bytes, schemas } = limits
  return { engine, rules: createRuleSetCache(engine, bytes), schemaFor: createSchemaCache(engine, schemas) }
}

/** The evaluator of the process. */
export const policyEvaluator = createPolicyEvaluator(decisionEngine)

/** The evaluator of drafts, on a separate engine, so that drafts never evict the rules in force from the cache. */
export const draftEvaluator = createPolicyEvaluator(createEngine(), { bytes: 16 * 2 ** 20, schemas: 500 })

/** The question, by the name that the rules use for its action. */
type PutQuestion = (action: string) => EngineQuestion

/**
 * Evaluates a question over a subset of the rules. `question` receives the name that the rules use for the action. An error that it
 * throws, like any failure of the engine, becomes an answer that denies. `literals`: the facts about the entities that rules read.
 */
export function evaluate(
  evaluator: PolicyEvaluator,
  ruleSet: RuleSet,
  subset: Subset,
  action: string,
  question: PutQuestion,
  literals?: LiteralFacts,
): Answer {
  const began = performance.now()
  const answer = ask(evaluator, ruleSet, subset, action, question, literals)
  evaluator.onAnswer?.((performance.now() - began) / 1_000, answer.fault)
  return answer
}

/**
 * The answers over `ordinary` and over `at_once`, mostly by one evaluation of the rules of both: each rule matches or fails whatever other
 * rules there are. Only beside a forbid the engine names no permits. Where all such forbids are those of `at_once` alone, `ordinary` is
 * evaluated by itself.
 */
export function evaluateBoth(
  evaluator: PolicyEvaluator,
  ruleSet: RuleSet,
  action: string,
  question: PutQuestion,
  literals?: LiteralFacts,
): { ordinary: Answer; atOnce: Answer } {
  const both = evaluate(evaluator, ruleSet, 'both', action, question, literals)
  if (both.fault !== undefined) return { ordinary: both, atOnce: both }
  const { byId } = evaluator.rules.sorted(ruleSet)
  const hidesPermits = both.forbids.length > 0 && !both.forbids.some((rule) => takesPart(rule, 'ordinary'))
  const ordinary = hidesPermits
    ? evaluate(evaluator, ruleSet, 'ordinary', action, question, literals)
    : partOf(both, 'ordinary', byId)
  return { ordinary, atOnce: partOf(both, 'at_once', byId) }
}

/** What of the answer is about the rules of a question. */
function partOf(answer: Answer, question: AskSubset, byId: ReadonlyMap<string, PolicyRule>): Answer {
  const own = (rule: PolicyRule | undefined) => rule !== undefined && takesPart(rule, question)
  const [permits, failedForbids] = [answer.permits.filter(own), answer.failedForbids.filter(own)]
  const allowed = permits.length > 0 && failedForbids.length === 0
  const errors = answer.errors.filter(({ rule_id }) => own(byId.get(rule_id ?? '')))
  return { allowed, permits, forbids: answer.forbids.filter(own), failedForbids, errors }
}

/** What the rules read beyond a question's own facts; nothing where they cannot be parsed, because every question is then denied. */
export function readingOfRules(evaluator: PolicyEvaluator, ruleSet: RuleSet): Reading {
  try {
    return evaluator.rules.sorted(ruleSet).reading
  } catch {
    return unitedReadings([])
  }
}

function ask(
  evaluator: PolicyEvaluator,
  ruleSet: RuleSet,
  subset: Subset,
  action: string,
  question: PutQuestion,
  literals: LiteralFacts | undefined,
): Answer {
  try {
    const { byId, namedActions, reading, subsets } = evaluator.rules.sorted(ruleSet)
    const known = namedActions.has(action) ? action : unnamedAction
    const asked = withoutUnread(withLiterals(question(known), reading.literals, literals), reading)
    const call = { ...asked, preparsedSchemaName: evaluator.schemaFor(known), validateRequest: true }
    const parts: Answer[] = []
    for (const group of groupsFor(subsets[subset], asked).flatMap(partsOfGroup)) {
      const preparsedPolicySetId = evaluator.rules.slot(ruleSet.tenant_id, group)
      const answer = evaluator.engine.use((cedar) => cedar.statefulIsAuthorized({ ...call, preparsedPolicySetId }))
      if (answer.type === 'failure') return noAnswer(answer.errors[0]?.message ?? 'the question is not valid')
      const part = trusted(answer.response, byId, group.twins)
      if (part.fault !== undefined) return part
      parts.push(part)
    }
    return merged(parts)
  } catch (error) {
    return noAnswer(error instanceof Error ? error.message : String(error))
  }
}

function noAnswer(fault: string): Answer {
  return {
    allowed: false,
    permits: [],
    forbids: [],
    failedForbids: [],
    errors: [{ rule_id: null, message: fault }],
    fault,
  }
}

type EngineResponse = {
  decision: 'allow' | 'deny'
  diagnostics: { reason: string[]; errors: { policyId: string; error: { message: string } }[] }
}

/**
 * Fails closed where Cedar would not: an allow without a reason, a reason that is not one of these rules, a failed forbid. What the engine
 * says of a rule holds for its twins.
 */
export function trusted(
  response: EngineResponse,
  byId: ReadonlyMap<string, PolicyRule>,
  twins: Twins = new Map(),
): Answer {
  const reason = response.diagnostics.reason.flatMap((id) => [id, ...(twins.get(id) ?? [])])
  const errors = response.diagnostics.errors.flatMap((error) =>
    [error.policyId, ...(twins.get(error.policyId) ?? [])].map((policyId) => ({ ...error, policyId })),
  )
  const allows = response.decision === 'allow'
  const matched = reason.map((id) => byId.get(id))
  const failed = errors.map(({ policyId }) => byId.get(policyId))
  if (!matched.every(isRule) || !failed.every(isRule)) return noAnswer('the engine named a rule of another tenant')
  if (matched.some((rule) => (rule.effect === 'permit') !== allows))
    return noAnswer('the engine gave a reason of the other kind')
  if (allows && matched.length === 0) return noAnswer('the engine allowed without a reason')

  const failedForbids = failed.filter((rule) => rule.effect === 'forbid').sort(inOrder)
  matched.sort(inOrder)
  return {
    allowed: allows && failedForbids.length === 0,
    permits: allows ? matched : [],
    forbids: allows ? [] : matched,
    failedForbids,
    errors: errors.map(({ policyId, error }) => ({ rule_id: policyId, message: error.message })).sort(byRule),
  }
}

/** The combined answer of all groups: a forbid in any group denies, and the answer then names no permit. */
function merged(parts: readonly Answer[]): Answer {
  const [only] = parts
  if (only !== undefined && parts.length === 1) return only
  const forbids = parts.flatMap((part) => part.forbids).sort(inOrder)
  const failedForbids = parts.flatMap((part) => part.failedForbids).sort(inOrder)
  const permits = forbids.length > 0 ? [] : parts.flatMap((part) => part.permits).sort(inOrder)
  const errors = parts.flatMap((part) => part.errors).sort(byRule)
  return { allowed: permits.length > 0 && failedForbids.length === 0, permits, forbids, failedForbids, errors }
}

function byRule(one: RuleError, other: RuleError): number {
  return (one.rule_id ?? '') < (other.rule_id ?? '') ? -1 : 1
}

function isRule(rule: PolicyRule | undefined): rule is PolicyRule {
  return rule !== undefined
}

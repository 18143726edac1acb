/**
 * Near misses: the rules that would have given the requested access except for one condition. The text engine verifies each of them,
 * on the few rules whose scopes nearly match; the engine that takes decisions is not used.
 */
import { type Clause, type PolicyJson, textEngine } from '../cedar/engine.ts'
import { parseStored, printStatement } from '../cedar/parse.ts'
import {
  type AskQuestion,
  actionAskedOn,
  askOf,
  type EngineQuestion,
  type Resource,
  withLiterals,
} from '../cedar/question.ts'
import { type Decision, decideAsk, decideAskInPieces } from '../deciding/decide.ts'
import { createPolicyEvaluator } from '../deciding/evaluate.ts'
import { type Reaches, reachesOf } from '../deciding/rule-index.ts'
import { type AskSubset, type PolicyRule, type RuleSet, type SortedRules, takesPart } from '../deciding/rule-set.ts'
import type { ApprovalMode } from '../rule.ts'
import { type Change, changesFor, type Durations, emergencyTurned } from './change.ts'
import { missedSides, type Side } from './near-rule.ts'
import { type Neighbourhood, neighbourhoodOf } from './neighbourhood.ts'
import { holding, type Part, partsOf } from './part.ts'
import type { Pauser } from './pauser.ts'

/** A question whose answer the requester may want to improve. */
export type DeniedQuestion = { ruleSet: RuleSet; question: AskQuestion; decision: Decision; durations: Durations }

/** One rule, and what would have to change for a better answer. */
export type NearMiss = {
  /** A permit that would then match, or a forbid that would then not match. */
  rule: PolicyRule
  /** The first of the question's resources for which the answer could be better. */
  resource: Resource
  /** The part of a permit's condition that does not hold, or the part of a forbid's that does. */
  part?: Part
  /** The part of the rule's scope that does not match. */
  side?: Side
  /** The change of the request that would help. The whole question was evaluated with it, and got a better answer. */
  change?: Change
  approval_mode: ApprovalMode | null
}

const most = { clausesAtOnce: 50, changes: 30 } as const

/** The best answer that the question can still get. */
type Goal = 'allowed' | 'at_once'

function goalOf({ question, decision }: DeniedQuestion): Goal | undefined {
  const unanswered = decision.errors.some(({ rule_id }) => rule_id === null)
  if (unanswered || !question.principal.active) return undefined
  if (!decision.allowed) return 'allowed'
  return decision.mode === 'require' ? 'at_once' : undefined
}

/**
 * The misses, in no order; none where the answer cannot be better. With `closely`, only those that a change of the request (such as
 * duration, reason, time or source) would fix; otherwise also those of the rules' other conditions and of their scopes.
 */
export async function findNearMisses(
  asked: DeniedQuestion,
  closely: boolean,
  yieldToEventLoop: Pauser,
): Promise<NearMiss[]> {
  const goal = goalOf(asked)
  if (goal === undefined) return []
  const emergency = asked.question.context.break_glass
  const subset: AskSubset = goal === 'at_once' ? 'at_once' : emergency ? 'emergency' : 'ordinary'
  await evaluator.rules.prepare(asked.ruleSet)
  const sorted = evaluator.rules.sorted(asked.ruleSet)
  const reaches = asked.question.resources.map((resource) => reachesOn(asked.question, resource))
  const near = await neighbourhoodOf(asked.ruleSet, sorted, reaches, subset, yieldToEventLoop)
  if (near === undefined) return []
  const present = await trial(asked, [...near.permits, ...near.forbids])
  const stage = { ...asked, goal, subset, near, sorted, present, yieldToEventLoop }
  const resource = await firstFailing(stage)
  if (resource === undefined) return []
  const faulty = await faultyParts(stage, resource)
  const fixed = await fixedByChange(stage, resource, faulty)
  if (closely) return fixed
  return [...fixed, ...(await fixedByRule(stage, resource, faulty))]
}

type Stage = DeniedQuestion & {
  goal: Goal
  subset: AskSubset
  near: Neighbourhood
  /** The parsed rules, from the decision. */
  sorted: SortedRules
  /** The rules whose scope matches the question. */
  present: RuleSet
  yieldToEventLoop: Pauser
}

function reachesOn(question: AskQuestion, resource: Resource): Reaches {
  return reachesOf(askOf(question, resource, actionAskedOn(question, resource)))
}

/** Decides on the engine for texts. */
const evaluator = createPolicyEvaluator(textEngine, { rules: 1_000, schemas: 20 })
let trials = 0

/** Rules to try, as a rule set with a version of its own. */
async function trial({ ruleSet }: DeniedQuestion, rules: readonly PolicyRule[]): Promise<RuleSet> {
  trials += 1
  const tried = { tenant_id: ruleSet.tenant_id, version: `nearest-${trials}`, rules }
  await evaluator.rules.prepare(tried, ruleSet)
  return tried
}

function reached({ goal, question }: Stage, decision: Decision, rule: PolicyRule): boolean {
  const better = goal === 'allowed' ? decision.allowed : decision.mode === 'auto'
  if (!better || rule.effect === 'forbid') return better
  const counts = goal === 'allowed' || (rule.approval_mode === 'auto' && rule.saved_by !== question.principal.id)
  return counts && decision.rule_ids.includes(rule.id)
}

async function firstFailing(stage: Stage): Promise<Resource | undefined> {
  const { question, present, yieldToEventLoop } = stage
  if (question.resources.length === 1) return question.resources[0]
  for (const resource of question.resources) {
    await yieldToEventLoop()
    const decision = decideAsk(present, { ...question, resources: [resource] }, evaluator)
    if (stage.goal === 'allowed' ? !decision.allowed : decision.mode !== 'auto') return resource
  }
  return undefined
}

/** A rule that prevents the better answer, parsed, and the parts of its condition that are the cause. */
type Faulty = { rule: PolicyRule; statement: PolicyJson; parts: Part[]; blamed: Part[] }

/** Permits of the question that match except for one part of their condition, and forbids that match. */
async function faultyParts(stage: Stage, resource: Resource): Promise<Faulty[]> {
  const { question, near, sorted, subset, yieldToEventLoop } = stage
  const here = [reachesOn(question, resource)]
  const read: Omit<Faulty, 'blamed'>[] = []
  for (const rule of [...near.permits, ...near.forbids]) {
    await yieldToEventLoop()
    const scope = sorted.read.get(rule.id)?.scope
    if (scope === undefined || !takesPart(rule, subset) || missedSides(scope, here).length > 0) continue
    const statement = parseStored(textEngine, rule)
    read.push({ rule, statement, parts: partsOf(statement.conditions) })
  }
  const asked = askOf(question, resource, actionAskedOn(question, resource))
  const isHeld = await heldBy(
    withLiterals(asked, sorted.reading.literals, question.literals),
    read.flatMap(({ parts }) => parts),
    yieldToEventLoop,
  )
  return read.flatMap(({ rule, statement, parts }) => {
    const failing = parts.filter((part) => !isHeld(part))
    if (rule.effect === 'permit') return failing.length === 1 ? [{ rule, statement, parts, blamed: failing }] : []
    return failing.length === 0 ? [{ rule, statement, parts, blamed: parts }] : []
  })
}

/** Whether a part holds; a part that several rules share is evaluated once. */
async function heldBy(
  question: EngineQuestion,
  parts: readonly Part[],
  yieldToEventLoop: Pauser,
): Promise<(part: Part) => boolean> {
  const clauses = new Map(parts.map(({ clause }) => [JSON.stringify(clause), clause]))
  const keys = [...clauses.keys()]
  const held = new Set<string>()
  for (let from = 0; from < keys.length; from += most.clausesAtOnce) {
    await yieldToEventLoop()
    const some = keys.slice(from, from + most.clausesAtOnce)
    const answers = holding(
      question,
      some.map((key) => clauses.get(key) as Clause),
    )
    for (const [index, key] of some.entries()) if (answers[index]) held.add(key)
  }
  return ({ clause }) => held.has(JSON.stringify(clause))
}

/** Changes of the request, one at a time, with which the whole question gets a better answer by that rule. */
async function fixedByChange(stage: Stage, resource: Resource, faulty: readonly Faulty[]): Promise<NearMiss[]> {
  const { question, durations, present, yieldToEventLoop } = stage
  const misses = await fixedByEmergency(stage, resource)
  const changes = faulty.flatMap(({ rule, blamed }) =>
    blamed.flatMap((part) =>
      changesFor(part, rule.effect === 'permit', question, durations).map((change) => ({ rule, part, change })),
    ),
  )
  const fixed = new Set<Part>()
  for (const { rule, part, change } of changes.slice(0, most.changes)) {
    await yieldToEventLoop()
    if (fixed.has(part)) continue
    const decision = await decideAskInPieces(present, change.question, evaluator)
    if (!reached(stage, decision, rule)) continue
    fixed.add(part)
    misses.push({ rule, resource, part, change, approval_mode: decision.mode })
  }
  return misses
}

/** The other kind of request, where its answer is better. Break-glass is never suggested as the quicker way past an approval. */
async function fixedByEmergency({ question, goal, near, present }: Stage, resource: Resource): Promise<NearMiss[]> {
  const other = question.context.break_glass ? 'ordinary' : 'emergency'
  if (goal !== 'allowed' || !near.permits.some((rule) => takesPart(rule, other))) return []
  const change = emergencyTurned(question)
  const { governing_rule_id, mode: approval_mode } = await decideAskInPieces(present, change.question, evaluator)
  const rule = near.permits.find(({ id }) => id === governing_rule_id)
  return rule === undefined ? [] : [{ rule, resource, change, approval_mode }]
}

/** Permits that would match here without one part of their condition or scope, where no rule forbids it. */
async function fixedByRule(stage: Stage, resource: Resource, faulty: readonly Faulty[]): Promise<NearMiss[]> {
  const { question, near, yieldToEventLoop } = stage
  const misses: (Pick<NearMiss, 'rule' | 'part' | 'side'> & { without: PolicyJson })[] = []
  for (const { rule, statement, parts, blamed } of faulty) {
    const [part] = blamed
    // Changes of the request were tried before, and are reported where they helped.
    if (rule.effect === 'forbid' || part === undefined || part.values || part.networks) continue
    const conditions = parts.filter((one) => one !== part).map(({ clause }) => clause)
    misses.push({ rule, part, without: { ...statement, conditions } })
  }
  for (const { rule, side } of near.strays) {
    await yieldToEventLoop()
    misses.push({ rule, side, without: { ...parseStored(textEngine, rule), [side]: { op: 'All' } } })
  }
  const copies: PolicyRule[] = []
  for (const { rule, without } of misses) {
    await yieldToEventLoop()
    const source = { field: 'policy_text', text: rule.policy_text } as const
    copies.push({ ...rule, policy_text: printStatement(without, source) })
  }
  const tried = await trial(stage, [...near.forbids, ...copies])
  const decision = decideAsk(tried, { ...question, resources: [resource] }, evaluator)
  return misses
    .filter(({ rule }) => reached(stage, decision, rule))
    .map(({ without: _, ...miss }) => ({ ...miss, resource, approval_mode: miss.rule.approval_mode }))
}

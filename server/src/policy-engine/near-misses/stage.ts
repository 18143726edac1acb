/** What a search for near misses works on: the question, the rules that concern it, and an engine of its own to try changes on. */
import { textEngine } from '../cedar/engine.ts'
import { type AskQuestion, actionAskedOn, askOf, type Resource } from '../cedar/question.ts'
import { type Decision, decideAsk } from '../deciding/decide.ts'
import { createPolicyEvaluator } from '../deciding/evaluate.ts'
import { type Reaches, reachesOf } from '../deciding/keyed-scope.ts'
import type { AskSubset, PolicyRule, RuleSet, SortedRules } from '../deciding/rule-set.ts'
import type { ApprovalMode } from '../rule.ts'
import type { Change, RequestBounds } from './change.ts'
import type { Side } from './near-rule.ts'
import { type Neighbourhood, neighbourhoodOf } from './neighbourhood.ts'
import type { Part } from './part.ts'
import type { Pauser } from './pauser.ts'

/** A question whose answer the requester may want to improve. */
export type DeniedQuestion = {
  ruleSet: RuleSet
  question: AskQuestion
  decision: Decision
  bounds: RequestBounds
  /** Whether the account counts that a request names: only then is it said to name one. */
  accountCounts: boolean
}

/** One thing that prevents a better answer. */
export type Flaw = {
  /** A permit that would then match, or a forbid that would then not match. */
  rule: PolicyRule
  /** The part of a permit's condition that does not hold, or the part of a forbid's that does. */
  part?: Part
  /** The part of the rule's scope that does not match. */
  side?: Side
  /** The change of the request that would help. */
  change?: Change
}

/** One rule, and what would have to change for a better answer. The whole question was evaluated so, and got a better answer. */
export type NearMiss = Flaw & {
  /** The first of the question's resources for which the answer could be better. */
  resource: Resource
  /** The second thing, where one is not enough. The question of its change has both changes. */
  also?: Flaw
  approval_mode: ApprovalMode | null
}

/** The best answer that the question can still get. */
type Goal = 'allowed' | 'at_once'

export type Stage = DeniedQuestion & {
  goal: Goal
  subset: AskSubset
  near: Neighbourhood
  /** The parsed rules, from the decision. */
  sorted: SortedRules
  /** The rules whose scope matches the question. */
  present: RuleSet
  /** The first of the resources that prevents the better answer. */
  resource: Resource
  yieldToEventLoop: Pauser
}

function goalOf({ question, decision }: DeniedQuestion): Goal | undefined {
  const unanswered = decision.errors.some(({ rule_id }) => rule_id === null)
  if (unanswered || !question.principal.active) return undefined
  if (!decision.allowed) return 'allowed'
  return decision.mode === 'require' ? 'at_once' : undefined
}

/** Undefined where the answer cannot be better, or where more rules concern it than can be examined. */
export async function openStage(asked: DeniedQuestion, yieldToEventLoop: Pauser): Promise<Stage | undefined> {
  const goal = goalOf(asked)
  if (goal === undefined) return undefined
  const { question, ruleSet } = asked
  const subset = goal === 'at_once' ? 'at_once' : question.context.break_glass ? 'emergency' : 'ordinary'
  await evaluator.rules.prepare(ruleSet)
  const sorted = evaluator.rules.sorted(ruleSet)
  const reaches = question.resources.map((resource) => reachesOn(question, resource))
  const near = await neighbourhoodOf(ruleSet, sorted, reaches, subset, yieldToEventLoop)
  if (near === undefined) return undefined
  const present = await trial(asked, [...near.permits, ...near.forbids])
  const stage = { ...asked, goal, subset, near, sorted, present, yieldToEventLoop } as const
  const resource = await firstFailing(stage)
  return resource && { ...stage, resource }
}

/** What rules match on one of the resources. */
export function reachesOn(question: AskQuestion, resource: Resource): Reaches {
  return reachesOf(askOf(question, resource, actionAskedOn(question, resource)))
}

/** Decides on the engine for texts; the engine that takes decisions is not used. */
export const evaluator = createPolicyEvaluator(textEngine, { bytes: 6 * 2 ** 20, schemas: 20 })
let trials = 0

/** Rules to try, as a rule set with a version of its own. */
export async function trial({ ruleSet }: DeniedQuestion, rules: readonly PolicyRule[]): Promise<RuleSet> {
  trials += 1
  const tried = { tenant_id: ruleSet.tenant_id, version: `nearest-${trials}`, rules }
  await evaluator.rules.prepare(tried, ruleSet)
  return tried
}

/** Whether a decision is as good as wanted, by that rule. */
export function reached(
  { goal, question }: DeniedQuestion & { goal: Goal },
  decision: Decision,
  rule: PolicyRule,
): boolean {
  const better = goal === 'allowed' ? decision.allowed : decision.mode === 'auto'
  if (!better || rule.effect === 'forbid') return better
  const counts = goal === 'allowed' || (rule.approval_mode === 'auto' && rule.saved_by !== question.principal.id)
  return counts && decision.rule_ids.includes(rule.id)
}

async function firstFailing(stage: Omit<Stage, 'resource'>): Promise<Resource | undefined> {
  const { question, present, goal, yieldToEventLoop } = stage
  if (question.resources.length === 1) return question.resources[0]
  for (const resource of question.resources) {
    await yieldToEventLoop()
    const decision = decideAsk(present, { ...question, resources: [resource] }, evaluator)
    if (goal === 'allowed' ? !decision.allowed : decision.mode !== 'auto') return resource
  }
  return undefined
}

/**
 * Near misses: the rules that would have given the requested access except for one thing, or for two. The text engine verifies each
 * of them, on the few rules whose scopes nearly match; the engine that takes decisions is not used.
 */
import { approveAction } from '../cedar/schema.ts'
import { decideAsk, decideAskInPieces } from '../deciding/decide.ts'
import { nearestNames } from '../nearest-name.ts'
import { fixedByChange, fixedByTwoChanges } from './by-change.ts'
import { fixedByRule, fixedByRuleAndMore } from './by-rule.ts'
import type { Change } from './change.ts'
import { findFaults } from './faulty.ts'
import type { Pauser } from './pauser.ts'
import { type DeniedQuestion, evaluator, type NearMiss, openStage, type Stage } from './stage.ts'

/** Names that are compared at once, names that are tried, and kinds of account that are searched for one more thing. */
const most = { namesAtOnce: 100, actionLength: 100, names: 3, kinds: 5 } as const

/**
 * The misses, in no order; none where the answer cannot be better. With `closely`, only those that a change of the request (such as
 * duration, reason, time or source) would fix; otherwise also those of the rules' other conditions and of their scopes. Two things
 * at once are looked for only where no one thing is enough.
 */
export async function findNearMisses(
  asked: DeniedQuestion,
  closely: boolean,
  yieldToEventLoop: Pauser,
): Promise<NearMiss[]> {
  const stage = await openStage(asked, yieldToEventLoop)
  if (stage === undefined) return []
  const faults = await findFaults(stage, !closely)
  const found = [...(await fixedByAccount(stage)), ...(await fixedByChange(stage, faults))]
  if (found.length === 0) found.push(...(await fixedByAction(stage, closely)))
  if (!closely) found.push(...(await fixedByRule(stage, faults)))
  if (found.length > 0) return found
  return [
    ...(await fixedByActionAndMore(stage, closely)),
    ...(await fixedByAccountAndMore(stage)),
    ...(await fixedByTwoChanges(stage, faults)),
    ...(closely ? [] : await fixedByRuleAndMore(stage, faults)),
  ]
}

/**
 * The question with each action that rules name and that the requested one may have meant. With `closely`, whether rules name the
 * requested one makes no difference: the requester would learn it from the answer.
 */
async function actionsMeant({ goal, sorted, question, yieldToEventLoop }: Stage, closely: boolean): Promise<Change[]> {
  const { action } = question
  if (goal !== 'allowed' || action.length > most.actionLength) return []
  if (!closely && sorted.namedActions.has(action)) return []
  const names = [...sorted.namedActions].filter(
    (name) => name !== approveAction && name !== action && name.length <= most.actionLength,
  )
  const near: string[] = []
  for (let from = 0; from < names.length; from += most.namesAtOnce) {
    await yieldToEventLoop()
    near.push(...nearestNames(action, names.slice(from, from + most.namesAtOnce), most.names))
  }
  return nearestNames(action, near, most.names).map((name) => ({
    circumstance: 'action',
    question: { ...question, action: name },
  }))
}

/** The nearest action with which the request would be permitted. All rules are evaluated, because others concern that action. */
async function fixedByAction(stage: Stage, closely: boolean): Promise<NearMiss[]> {
  for (const change of await actionsMeant(stage, closely)) {
    await stage.yieldToEventLoop()
    const { mode, governing_rule_id } = await decideAskInPieces(stage.ruleSet, change.question, evaluator)
    const rule = stage.ruleSet.rules.find(({ id }) => id === governing_rule_id)
    if (rule !== undefined) return [{ rule, resource: stage.resource, change, approval_mode: mode }]
  }
  return []
}

async function fixedByActionAndMore(stage: Stage, closely: boolean): Promise<NearMiss[]> {
  for (const change of await actionsMeant(stage, closely)) {
    const misses = await fixedAfter(stage, change)
    if (misses.length > 0) return misses
  }
  return []
}

/** The question as if in one kind of account after another, where the request names none and would be believed. */
function accountsMeant({ question, accountCounts }: Stage): Change[] {
  if (!accountCounts) return []
  return question.resources.flatMap(({ as_if, ...resource }): Change[] =>
    as_if === 'unnamed' ? [{ circumstance: 'account', question: { ...question, resources: [resource] } }] : [],
  )
}

async function fixedByAccount(stage: Stage): Promise<NearMiss[]> {
  for (const change of accountsMeant(stage)) {
    await stage.yieldToEventLoop()
    const { allowed, mode, governing_rule_id } = decideAsk(stage.present, change.question, evaluator)
    const rule = stage.near.permits.find(({ id }) => id === governing_rule_id)
    const better = stage.goal === 'allowed' ? allowed : mode === 'auto'
    if (better && rule !== undefined) return [{ rule, resource: stage.resource, change, approval_mode: mode }]
  }
  return []
}

async function fixedByAccountAndMore(stage: Stage): Promise<NearMiss[]> {
  for (const change of accountsMeant(stage).slice(0, most.kinds)) {
    const misses = await fixedAfter(stage, change)
    if (misses.length > 0) return misses
  }
  return []
}

/** What one change of the already changed question would fix. */
async function fixedAfter(stage: Stage, first: Change): Promise<NearMiss[]> {
  const { ruleSet, bounds, accountCounts, yieldToEventLoop } = stage
  const { question } = first
  const decision = await decideAskInPieces(ruleSet, question, evaluator)
  const changed = await openStage({ ruleSet, question, decision, bounds, accountCounts }, yieldToEventLoop)
  if (changed === undefined || changed.goal !== stage.goal) return []
  const misses = await fixedByChange(changed, await findFaults(changed, false))
  return misses.map(({ part, change, ...miss }) => ({
    ...miss,
    change: first,
    also: { rule: miss.rule, ...(part && { part }), ...(change && { change }) },
  }))
}

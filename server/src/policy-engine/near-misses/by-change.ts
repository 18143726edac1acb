/** Near misses that a change of the request would fix: one change, or two where one is not enough. */
import { numberIn, otherValues } from '../cedar/circumstance.ts'
import type { AskQuestion, RequestContext } from '../cedar/question.ts'
import { holds } from '../cedar/range.ts'
import { type Decision, decideAskInPieces } from '../deciding/decide.ts'
import { type PolicyRule, takesPart } from '../deciding/rule-set.ts'
import { type Change, changesFor, emergencyTurned, timeChanges } from './change.ts'
import { withTrueRange } from './duration-range.ts'
import type { Faults, Faulty } from './faulty.ts'
import { bothParts, isTimed, type Part, partsAgainst, type Timed } from './part.ts'
import { evaluator, type NearMiss, reached, type Stage } from './stage.ts'

/** How many changed questions are evaluated, and how many misses of two changes are looked for. */
const most = { changes: 40, changesOfPairs: 40, changesOfPair: 10, steps: 6, pairs: 3 } as const

/** One thing of a rule that a change of the request may set right. */
type Step = { rule: PolicyRule; part: Part; isTime: boolean; changes: (question: AskQuestion) => Change[] }

/** The changes that would set the rule right: of a permit all are needed, of a forbid any one. Undefined where that needs more. */
function stepsOf(faulty: Faulty, stage: Stage, minutes: readonly number[]): Step[] | undefined {
  if (faulty.rule.effect === 'forbid') return stepsAgainst(faulty, stage, minutes)
  const { rule, parts, blamed, side } = faulty
  const others = blamed.filter((part) => !isTimed(part))
  if (side !== undefined || others.some((part) => !part.values && !part.networks)) return undefined
  const steps = others.map((part) => stepOf(rule, part, (question) => changesFor(part, true, question, stage.bounds)))
  const [first, ...more] = blamed.filter(isTimed)
  if (first === undefined) return steps
  // All of the schedule must hold then, also what holds now.
  const schedule = [first, ...more, ...parts.filter(isTimed).filter((part) => !blamed.includes(part))]
  return [...steps, waiting(rule, first, [schedule], minutes)]
}

/** It is enough that one part of the forbid does not hold; by waiting, the first that ends. */
function stepsAgainst({ rule, blamed }: Faulty, { question, bounds }: Stage, minutes: readonly number[]): Step[] {
  const { context } = question
  const steps = blamed.flatMap((part): Step[] => {
    if (isTimed(part)) return []
    if (part.values || part.networks) return [stepOf(rule, part, (asked) => changesFor(part, false, asked, bounds))]
    const [one, ...others] = missingAgainst(part, context)
    if (one?.values === undefined || isTimed(one) || others.length > 0) return []
    return [stepOf(rule, part, (asked) => changesFor(one, true, asked, bounds))]
  })
  const ends = blamed
    .map((part) => ({ part, schedule: scheduleAgainst(part, context) }))
    .filter(({ schedule }) => schedule.length > 0)
  if (ends.length === 0) return steps
  const [part, schedules] = [ends.map((end) => end.part).reduce(bothParts), ends.map(({ schedule }) => schedule)]
  return [...steps, waiting(rule, part, schedules, minutes)]
}

/** What must all hold, and does not, for a part not to hold that says "unless all of these". */
function missingAgainst(part: Part, context: RequestContext): Part[] {
  return partsAgainst(part).filter(
    ({ values }) => values === undefined || !holds(values.values, numberIn(context, values.circumstance)),
  )
}

/** The times that must all be for the part not to hold; empty where waiting alone does not end it. */
function scheduleAgainst(part: Part, context: RequestContext): Timed[] {
  if (isTimed(part)) return [{ ...part, values: otherValues(part.values) }]
  const missing = missingAgainst(part, context)
  return missing.length > 0 && missing.every(isTimed) ? partsAgainst(part).filter(isTimed) : []
}

function stepOf(rule: PolicyRule, part: Part, changes: Step['changes']): Step {
  return { rule, part, isTime: false, changes }
}

function waiting(rule: PolicyRule, part: Part, groups: readonly Timed[][], minutes: readonly number[]): Step {
  const values = groups.map((group) => group.map((one) => one.values))
  return { rule, part, isTime: true, changes: (question) => timeChanges(values, question, minutes) }
}

/** A limit on evaluations that several searches share. */
type Budget = { left: number }

/** The first change with which the whole question gets a better answer by that rule, with that decision. */
async function firstFix(
  stage: Stage,
  rule: PolicyRule,
  changes: readonly Change[],
  budget: Budget,
): Promise<{ change: Change; decision: Decision } | undefined> {
  for (const change of changes) {
    if (budget.left <= 0) return undefined
    budget.left -= 1
    await stage.yieldToEventLoop()
    const decision = await decideAskInPieces(stage.present, change.question, evaluator)
    if (reached(stage, decision, rule)) return { change, decision }
  }
  return undefined
}

/** Whether the whole question gets an answer as good as this one by that rule. */
function isAsGood(stage: Stage, rule: PolicyRule, { mode }: Decision): (question: AskQuestion) => Promise<boolean> {
  return async (question) => {
    await stage.yieldToEventLoop()
    const decision = await decideAskInPieces(stage.present, question, evaluator)
    return reached(stage, decision, rule) && (mode === 'require' || decision.mode === mode)
  }
}

/** The misses that one change fixes. */
export async function fixedByChange(stage: Stage, { rules, minutes }: Faults): Promise<NearMiss[]> {
  const misses = await fixedByEmergency(stage)
  const budget = { left: most.changes }
  for (const one of rules) {
    const steps = stepsOf(one, stage, minutes) ?? []
    if (one.rule.effect === 'permit' && steps.length !== 1) continue
    for (const { rule, part, changes } of steps) {
      const fix = await firstFix(stage, rule, changes(stage.question), budget)
      if (fix === undefined) continue
      const asGood = isAsGood(stage, rule, fix.decision)
      const change = await withTrueRange(fix.change, fix.change.question, stage.present.rules, asGood)
      misses.push({ rule, resource: stage.resource, part, change, approval_mode: fix.decision.mode })
    }
  }
  return misses
}

/** The other kind of request, where its answer is better. Break-glass is never suggested as the quicker way past an approval. */
async function fixedByEmergency({ question, goal, near, present, resource }: Stage): Promise<NearMiss[]> {
  const other = question.context.break_glass ? 'ordinary' : 'emergency'
  if (goal !== 'allowed' || !near.permits.some((rule) => takesPart(rule, other))) return []
  const change = emergencyTurned(question)
  const { governing_rule_id, mode: approval_mode } = await decideAskInPieces(present, change.question, evaluator)
  const rule = near.permits.find(({ id }) => id === governing_rule_id)
  return rule === undefined ? [] : [{ rule, resource, change, approval_mode }]
}

/** The misses that two changes fix: two of one permit, one of a permit and one of a forbid, or one each of two forbids. */
export async function fixedByTwoChanges(stage: Stage, faults: Faults): Promise<NearMiss[]> {
  const misses: NearMiss[] = []
  const budget = { left: most.changesOfPairs }
  for (const [first, second] of pairsOf(stage, faults)) {
    if (misses.length >= most.pairs) break
    const own = { left: Math.min(budget.left, most.changesOfPair) }
    const before = own.left
    // Waiting is tried last: it alone has many moments, and only one of the other changes is likely to be of use.
    const [one, other] = first.isTime ? [second, first] : [first, second]
    for (const change of one.changes(stage.question)) {
      const then = other.changes(change.question).filter(({ circumstance }) => circumstance !== change.circumstance)
      const fix = await firstFix(stage, first.rule, then, own)
      if (fix === undefined) continue
      const trueRange = (some: Change) =>
        withTrueRange(some, fix.change.question, stage.present.rules, isAsGood(stage, first.rule, fix.decision))
      const also = { rule: other.rule, part: other.part, change: await trueRange(fix.change) }
      misses.push({
        ...{ rule: one.rule, resource: stage.resource, part: one.part, change: await trueRange(change), also },
        approval_mode: fix.decision.mode,
      })
      break
    }
    budget.left -= before - own.left
  }
  return misses
}

/** The first of each pair belongs to a permit, if either does. */
function pairsOf(stage: Stage, { rules, minutes }: Faults): [Step, Step][] {
  const [pairs, permits, forbids] = [[] as [Step, Step][], [] as Step[], [] as Step[]]
  for (const one of rules) {
    const steps = stepsOf(one, stage, minutes) ?? []
    const [first, second, third] = steps
    if (one.rule.effect === 'forbid') forbids.push(...steps)
    else if (first !== undefined && second === undefined) permits.push(first)
    else if (first !== undefined && second !== undefined && third === undefined) pairs.push([first, second])
  }
  const few = forbids.slice(0, most.steps)
  for (const permit of permits.slice(0, most.steps)) for (const forbid of few) pairs.push([permit, forbid])
  for (const [at, one] of few.entries())
    for (const other of few.slice(at + 1)) if (other.rule !== one.rule) pairs.push([one, other])
  return pairs
}

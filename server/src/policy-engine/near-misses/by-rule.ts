/** Near misses that no change of the request alone fixes: another condition of a rule, or a part of its scope. */
import type { PolicyJson } from '../cedar/engine.ts'
import { printStatement } from '../cedar/parse.ts'
import type { AskQuestion } from '../cedar/question.ts'
import { type Decision, decideAskInPieces } from '../deciding/decide.ts'
import type { PolicyRule } from '../deciding/rule-set.ts'
import type { ApprovalMode } from '../rule.ts'
import { type Change, changesFor, timeChanges } from './change.ts'
import { withTrueRange } from './duration-range.ts'
import type { Faults, Faulty } from './faulty.ts'
import { isTimed, type Part } from './part.ts'
import { evaluator, type Flaw, type NearMiss, reached, type Stage, trial } from './stage.ts'

/** How many misses of two things are looked for, and how many changed questions are evaluated for each. */
const most = { pairs: 8, changesOfPair: 8 } as const

/** What a permit misses: a side of its scope, each part that no change of the request sets right, and each that one does. */
type Missed = { faulty: Faulty; fixed: Flaw[]; changeable: Part[] }

function missedBy(faulty: Faulty): Missed {
  const { rule, side, blamed } = faulty
  const isChangeable = (part: Part) => part.values !== undefined || part.networks !== undefined
  const fixed = [
    ...(side === undefined ? [] : [{ rule, side }]),
    ...blamed.filter((part) => !isChangeable(part)).map((part) => ({ rule, part })),
  ]
  const time = blamed.filter(isTimed)
  const changeable = blamed.filter((part) => isChangeable(part) && (!isTimed(part) || part === time[0]))
  return { faulty, fixed, changeable }
}

/** The question as it is put to a copy of the rule: on all kinds of an unknown account, else on the one resource that is explained. */
function onResource({ question, resource }: Stage): AskQuestion {
  return resource.as_if === undefined ? { ...question, resources: [resource] } : question
}

/** Permits that would match here without one part of their condition or scope, where no rule forbids it. */
export async function fixedByRule(stage: Stage, { rules }: Faults): Promise<NearMiss[]> {
  const missed = rules.filter(({ rule }) => rule.effect === 'permit').map(missedBy)
  const single = missed.filter(({ fixed, changeable }) => fixed.length === 1 && changeable.length === 0)
  return judged(stage, single, onResource(stage))
}

/** Permits that would match without one or two such parts, one of them perhaps with a change of the request instead. */
export async function fixedByRuleAndMore(stage: Stage, { rules, minutes }: Faults): Promise<NearMiss[]> {
  const missed = rules.filter(({ rule }) => rule.effect === 'permit').map(missedBy)
  const two = missed.filter(({ fixed, changeable }) => fixed.length === 2 && changeable.length === 0)
  const misses = await judged(stage, two.slice(0, most.pairs), onResource(stage))
  const mixed = missed.filter(({ fixed, changeable }) => fixed.length === 1 && changeable.length === 1)
  for (const one of mixed.slice(0, most.pairs)) {
    const [part] = one.changeable
    if (part === undefined) continue
    for (const change of changesOf(one, part, stage, minutes).slice(0, most.changesOfPair)) {
      const [found] = await judged(stage, [one], change.question)
      if (found === undefined) continue
      const { rule, side, part: fixed, ...rest } = found
      const isBetter = async (question: AskQuestion) => (await judged(stage, [one], question)).length > 0
      const range = await withTrueRange(change, change.question, [...stage.present.rules, rule], isBetter)
      misses.push({
        ...rest,
        rule,
        part,
        change: range,
        also: { rule, ...(side && { side }), ...(fixed && { part: fixed }) },
      })
      break
    }
  }
  return misses
}

function changesOf({ faulty }: Missed, part: Part, stage: Stage, minutes: readonly number[]): Change[] {
  const question = onResource(stage)
  if (!isTimed(part)) return changesFor(part, true, question, stage.bounds)
  const schedule = [part, ...faulty.parts.filter((one) => one !== part).filter(isTimed)]
  return timeChanges([schedule.map(({ values }) => values)], question, minutes)
}

/** Those of the permits whose copies, without what they miss and no change sets right, give the better answer to the question. */
async function judged(stage: Stage, missed: readonly Missed[], question: AskQuestion): Promise<NearMiss[]> {
  if (missed.length === 0) return []
  const copies: PolicyRule[] = []
  for (const one of missed) {
    await stage.yieldToEventLoop()
    const source = { field: 'policy_text', text: one.faulty.rule.policy_text } as const
    copies.push({ ...one.faulty.rule, policy_text: printStatement(without(one), source) })
  }
  const tried = await trial(stage, [...stage.near.forbids, ...copies])
  const decision = await decideAskInPieces(tried, question, evaluator)
  return missed.flatMap(({ faulty, fixed }) => {
    const [first, second] = fixed
    if (first === undefined || !reached(stage, decision, faulty.rule)) return []
    const { resource } = stage
    return [
      { ...first, resource, ...(second && { also: second }), approval_mode: modeBy(faulty.rule, decision, question) },
    ]
  })
}

/**
 * How a request that the rule permits is approved, where this is the decision on copies of several rules. An `auto` permit counts as
 * `require` where a forbid holds it back, and for the user who saved it last.
 */
function modeBy({ approval_mode, saved_by }: PolicyRule, { mode }: Decision, { principal }: AskQuestion): ApprovalMode {
  if (approval_mode === 'break_glass') return approval_mode
  return approval_mode === 'auto' && mode === 'auto' && saved_by !== principal.id ? 'auto' : 'require'
}

function without({ faulty, fixed }: Missed): PolicyJson {
  const { statement, parts, side } = faulty
  const gone = fixed.map(({ part }) => part)
  const conditions = parts.filter((part) => !gone.includes(part)).map(({ clause }) => clause)
  return { ...statement, conditions, ...(side && { [side]: { op: 'All' } }) } as PolicyJson
}

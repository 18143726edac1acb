/** The rules that prevent a better answer, and the parts of their conditions that are the cause. */
import { type Clause, type PolicyJson, textEngine } from '../cedar/engine.ts'
import { parseStored } from '../cedar/parse.ts'
import { actionAskedOn, askOf, type EngineQuestion, withLiterals } from '../cedar/question.ts'
import { type PolicyRule, takesPart } from '../deciding/rule-set.ts'
import { missedSides, type Side } from './near-rule.ts'
import { holding, minutesOf, type Part, partsOf } from './part.ts'
import type { Pauser } from './pauser.ts'
import { reachesOn, type Stage } from './stage.ts'

/** A rule, parsed. A permit has parts that do not hold, and perhaps a side of its scope; of a forbid every part holds. */
export type Faulty = { rule: PolicyRule; statement: PolicyJson; parts: Part[]; blamed: Part[]; side?: Side }

/** The rules that prevent a better answer, and the minutes of a day at which a rule of the question begins to hold or stops. */
export type Faults = { rules: readonly Faulty[]; minutes: readonly number[] }

const most = { clausesAtOnce: 50 } as const

/**
 * Permits of the question that do not match on the resource that prevents the better answer, forbids that do, and, with `strays`,
 * permits whose scope misses it in one part.
 */
export async function findFaults(stage: Stage, strays: boolean): Promise<Faults> {
  const { question, near, sorted, subset, resource, yieldToEventLoop } = stage
  const here = [reachesOn(question, resource)]
  const read: Omit<Faulty, 'blamed'>[] = []
  for (const rule of [...near.permits, ...near.forbids]) {
    await yieldToEventLoop()
    const scope = sorted.read.get(rule.id)?.scope
    if (scope === undefined || !takesPart(rule, subset) || missedSides(scope, here).length > 0) continue
    const statement = parseStored(textEngine, rule)
    read.push({ rule, statement, parts: partsOf(statement.conditions) })
  }
  for (const { rule, side } of strays ? near.strays : []) {
    await yieldToEventLoop()
    const statement = parseStored(textEngine, rule)
    read.push({ rule, statement, parts: partsOf(statement.conditions), side })
  }
  const isHeld = await heldBy(
    withLiterals(
      askOf(question, resource, actionAskedOn(question, resource)),
      sorted.reading.literals,
      question.literals,
    ),
    read.flatMap(({ parts }) => parts),
    yieldToEventLoop,
  )
  const rules = read.flatMap((one) => {
    const failing = one.parts.filter((part) => !isHeld(part))
    if (one.rule.effect === 'permit')
      return failing.length > 0 || one.side !== undefined ? [{ ...one, blamed: failing }] : []
    return failing.length === 0 ? [{ ...one, blamed: one.parts }] : []
  })
  return { rules, minutes: minutesOf(read.flatMap(({ parts }) => parts)) }
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

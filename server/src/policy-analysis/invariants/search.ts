/** The bounded search for a question that breaks an invariant. It evaluates candidates, so each result is a real decision. */
import type { LiteralFacts } from '../../policy-engine/cedar/question.ts'
import type { PolicyEvaluator } from '../../policy-engine/deciding/evaluate.ts'
import { assignmentsFor, both, type Constraints, constraintsIn, merged } from './constraints.ts'
import type { ReadRule } from './read-rule.ts'

/** The limits of one check. Time is the process's own; the only decision that depends on it is to give up. */
export type Bounds = { questions: number; milliseconds: number }

/** The remaining budget of one check. */
export type Budget = {
  tried: number
  readonly bounds: Bounds
  readonly began: number
  readonly yieldToEventLoop: () => Promise<void>
}

export function openBudget(bounds: Bounds, yieldToEventLoop: () => Promise<void>): Budget {
  return { tried: 0, bounds, began: performance.now(), yieldToEventLoop }
}

/** A part of what is left of a budget, so that one search leaves something for the next. What it tried still has to be added. */
export function partOf({ tried, bounds, began, yieldToEventLoop }: Budget, share: number): Budget {
  const left = bounds.milliseconds - (performance.now() - began)
  const questions = Math.floor((bounds.questions - tried) * share)
  return openBudget({ questions, milliseconds: left * share }, yieldToEventLoop)
}

/** Whether the check has to give up; an invariant not proved by then stays unproved. */
export function isSpent({ tried, bounds, began }: Budget): boolean {
  return tried >= bounds.questions || performance.now() - began > bounds.milliseconds
}

/** What decides the questions of a search, with the facts about the entities that the rules read, and the budget. */
export type Means = { evaluator: PolicyEvaluator; literals?: LiteralFacts | undefined; budget: Budget }

export type Target<Question> = {
  /** Each makes the question of one frame for constraints; undefined where no such question is possible. */
  makers: readonly ((constraints: Constraints) => Question | undefined)[]
  /** The constraints on the question in addition to the rules. */
  given: Constraints
  /** Rules that should match: a permit, and a forbid that is gone. */
  holding: readonly ReadRule[]
  /** Rules that should not match: forbids, and permits that permitted the question before. */
  silent: readonly ReadRule[]
}

const mostSilent = 50
const maxVariations = 40

/**
 * Tries questions for which the rules of the target hold and the silent rules do not, as far as their conditions can be read; then
 * the same questions with one and with two settings changed to a bound or a literal of those conditions.
 */
export async function search<Question, Found>(
  { makers, given, holding, silent }: Target<Question>,
  judge: (question: Question) => Found | undefined,
  budget: Budget,
): Promise<Found | undefined> {
  const seen = new Set<string>()
  const attempt = async (constraints: Constraints): Promise<Found | undefined> => {
    for (const make of makers) {
      const question = make(constraints)
      if (question === undefined) continue
      const key = JSON.stringify(question)
      if (seen.has(key)) continue
      seen.add(key)
      if (isSpent(budget)) return undefined
      await budget.yieldToEventLoop()
      budget.tried += 1
      const found = judge(question)
      if (found !== undefined) return found
    }
    return undefined
  }
  const conditional = silent.filter((rule) => rule.clauses.length > 0).slice(0, mostSilent)
  const bases = basesOf(given, holding, conditional)
  for (const constraints of bases) {
    const found = await attempt(constraints)
    if (found !== undefined || isSpent(budget)) return found
  }
  for (const constraints of variationsOf(given, bases, [...holding, ...conditional])) {
    const found = await attempt(constraints)
    if (found !== undefined || isSpent(budget)) return found
  }
  return undefined
}

function basesOf(given: Constraints, holding: readonly ReadRule[], silent: readonly ReadRule[]): Constraints[] {
  const hold = holding.reduce<Constraints[]>((ways, { clauses }) => both(ways, assignmentsFor(clauses, true)), [given])
  const starts = hold.length > 0 ? hold : [given]
  // A rule that cannot be silenced together with the others is ignored: the engine decides the result.
  const quiet = starts.map((start) =>
    silent.reduce(
      (constraints, { clauses }) => both([constraints], assignmentsFor(clauses, false))[0] ?? constraints,
      start,
    ),
  )
  return [...quiet, ...starts]
}

/** The bases with one setting, and then two, changed to a condition's value or its opposite. `given` stays unchanged. */
function* variationsOf(
  given: Constraints,
  bases: readonly Constraints[],
  rules: readonly ReadRule[],
): Generator<Constraints> {
  const changes = [
    ...new Map(
      rules
        .flatMap(({ clauses }) => constraintsIn(clauses))
        .map((change) => [JSON.stringify(change), new Map([change])] as const),
    ).values(),
  ].slice(0, maxVariations)
  for (const second of [new Map(), ...changes])
    for (const first of changes)
      for (const base of bases) {
        const changed = merged(given, new Map([...base, ...first, ...second]))
        if (changed !== undefined) yield changed
      }
}

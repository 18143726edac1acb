/** A rule's condition, in parts that are each true or false; the engine evaluates which of them are true. */
import { networksOf } from '../cedar/address.ts'
import { bothValues, otherValues, type Values, valuesOf } from '../cedar/circumstance.ts'
import { conjunctsOf } from '../cedar/conjunct.ts'
import { type Clause, type Expr, type PolicyJson, textEngine } from '../cedar/engine.ts'
import type { EngineQuestion } from '../cedar/question.ts'
import { isOfTime } from './coming-moment.ts'

/** One part of a condition. */
export type Part = {
  clause: Clause
  /** The circumstance that the part tests, and the values for which it holds, where it tests only one. */
  values?: Values
  /** The networks that the part names, where it tests only the caller's address. */
  networks?: string[]
}

/** The parts of a condition; a lower and an upper bound on one circumstance are one part. */
export function partsOf(clauses: readonly Clause[]): Part[] {
  const parts: Part[] = []
  for (const clause of conjunctsOf(clauses)) {
    const values = valuesOf(clause)
    const beside = parts.findIndex((part) => values !== undefined && part.values?.circumstance === values.circumstance)
    const other = parts[beside]
    if (values === undefined || other?.values === undefined) {
      const networks = values === undefined ? networksOf(clause.body) : undefined
      parts.push({ clause, ...(values !== undefined && { values }), ...(networks !== undefined && { networks }) })
      continue
    }
    parts[beside] = { ...bothParts(other, { clause }), values: bothValues(other.values, values) }
  }
  return parts
}

/** The parts that must all hold for the part not to hold: `a` and `b` of `unless { a && b }`, neither of `when { a || b }`. */
export function partsAgainst({ clause: { kind, body } }: Part): Part[] {
  return partsOf([{ kind: kind === 'when' ? 'unless' : 'when', body }])
}

/** A part that waiting changes. */
export type Timed = Part & { values: Values }

export function isTimed(part: Part): part is Timed {
  return part.values !== undefined && isOfTime(part.values.circumstance)
}

/** The minutes of a day at which one of the parts begins to hold or stops. */
export function minutesOf(parts: readonly Part[]): number[] {
  const timed = parts.flatMap((part) => [part, ...partsAgainst(part)]).filter(isTimed)
  const ofDay = timed.map(({ values }) => values).filter(({ circumstance }) => circumstance === 'minute')
  return ofDay.flatMap((values) => [...values.values, ...otherValues(values).values].map(([from]) => from))
}

/** Two parts as one, which holds where both do. */
export function bothParts({ clause: one }: Part, { clause: other }: Part): Part {
  return { clause: { kind: 'when', body: { '&&': { left: positive(one), right: positive(other) } } } }
}

function positive({ kind, body }: Clause): Expr {
  return kind === 'when' ? body : { '!': { arg: body } }
}

const permitWhere = (clause: Clause): PolicyJson => ({
  effect: 'permit',
  principal: { op: 'All' },
  action: { op: 'All' },
  resource: { op: 'All' },
  conditions: [clause],
})

/**
 * Whether each of the clauses holds; a clause that fails at evaluation does not. Each is evaluated as a separate statement, never on
 * the engine that takes decisions.
 */
export function holding(question: EngineQuestion, clauses: readonly Clause[]): boolean[] {
  const staticPolicies = Object.fromEntries(clauses.map((clause, index) => [String(index), permitWhere(clause)]))
  const answer = textEngine.use((cedar) => cedar.isAuthorized({ ...question, policies: { staticPolicies } }))
  if (answer.type === 'failure') throw new Error(answer.errors[0]?.message ?? 'the question is not valid')
  const held = new Set(answer.response.diagnostics.reason)
  return clauses.map((_clause, index) => held.has(String(index)))
}

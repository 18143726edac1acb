/** What a rule asks for beside its scope, in parts that are true or not by themselves; and which of them are, by the engine. */
import { networksOf } from '../cedar/address.ts'
import { bothValues, type Values, valuesOf } from '../cedar/circumstance.ts'
import { conjunctsOf } from '../cedar/conjunct.ts'
import { type Clause, type Expr, type PolicyJson, textEngine } from '../cedar/engine.ts'
import type { EngineQuestion } from '../cedar/question.ts'

/** One part of a condition. */
export type Part = {
  clause: Clause
  /** For which values of which circumstance it holds, where it speaks of that alone. */
  values?: Values
  /** The networks that it speaks of, where it speaks of the caller's address alone. */
  networks?: string[]
}

/** The parts of a condition; what it says of one circumstance, from the one end and from the other, is one part. */
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
    const body: Expr = { '&&': { left: positive(other.clause), right: positive(clause) } }
    parts[beside] = { clause: { kind: 'when', body }, values: bothValues(other.values, values) }
  }
  return parts
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
 * Whether each of the clauses holds; what fails at evaluation does not. Each is put to the engine as a statement of its own,
 * never to the one that decides.
 */
export function holding(question: EngineQuestion, clauses: readonly Clause[]): boolean[] {
  const staticPolicies = Object.fromEntries(clauses.map((clause, index) => [String(index), permitWhere(clause)]))
  const answer = textEngine.use((cedar) => cedar.isAuthorized({ ...question, policies: { staticPolicies } }))
  if (answer.type === 'failure') throw new Error(answer.errors[0]?.message ?? 'the question is not valid')
  const held = new Set(answer.response.diagnostics.reason)
  return clauses.map((_clause, index) => held.has(String(index)))
}

/** The parts of a rule's condition. Each part must hold for the rule to match. */
import type { Clause, Expr } from './engine.ts'
import { formOf } from './expression.ts'

/**
 * Splits clauses into clauses of one part each. They all hold exactly where the given clauses all hold: an `&&` in a `when` and an
 * `||` in an `unless` are split, and `!` turns one kind into the other. A `hasTag` stays with the part that then reads the tag,
 * since either alone means nothing.
 */
export function conjunctsOf(clauses: readonly Clause[]): Clause[] {
  return withTheirGuards(clauses.flatMap((clause) => split(clause.kind, clause.body)))
}

function split(kind: Clause['kind'], body: Expr): Clause[] {
  const { operator, operands } = formOf(body)
  const { left, right, arg } = operands
  if (operator === '!' && arg !== undefined) return split(kind === 'when' ? 'unless' : 'when', arg)
  const joins = kind === 'when' ? '&&' : '||'
  if (operator === joins && left !== undefined && right !== undefined)
    return [...split(kind, left), ...split(kind, right)]
  return [{ kind, body }]
}

function withTheirGuards(parts: readonly Clause[]): Clause[] {
  const guards = parts.filter(({ kind, body }) => kind === 'when' && formOf(body).operator === 'hasTag')
  const readers = parts.map((part) => guards.filter((guard) => guard !== part && readsTagOf(part.body, guard.body)))
  const used = new Set(readers.flat())
  return parts
    .map((part, index) => (readers[index] ?? []).reduceRight(behind, part))
    .filter((_part, index) => !used.has(parts[index] as Clause))
}

function behind(part: Clause, guard: Clause): Clause {
  const right: Expr = part.kind === 'when' ? part.body : { '!': { arg: part.body } }
  return { kind: 'when', body: { '&&': { left: guard.body, right } } }
}

/** Whether the expression reads the tag that the guard, a `hasTag`, tests. */
export function readsTagOf(body: Expr, guard: Expr): boolean {
  const { operands } = formOf(guard)
  return JSON.stringify(body).includes(JSON.stringify({ getTag: operands }))
}

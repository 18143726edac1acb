/** The parts of a rule's condition. Each part must hold for the rule to match. */
import type { Clause, Expr } from './engine.ts'
import { formOf } from './expression.ts'

/**
 * Splits clauses into clauses of one part each. They all hold exactly where the given clauses all hold: an `&&` in a `when` and an
 * `||` in an `unless` are split, and `!` turns one kind into the other. A `hasTag` or a `has` stays with the part that then reads the
 * tag or the attribute, since either alone means nothing.
 */
export function conjunctsOf(clauses: readonly Clause[]): Clause[] {
  return withTheirGuards(partsOf(clauses))
}

/** The same parts, in the order in which the engine evaluates them, each by itself. */
export function partsOf(clauses: readonly Clause[]): Clause[] {
  return clauses.flatMap((clause) => split(clause.kind, clause.body))
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
  const guards = parts.filter(({ kind, body }) => kind === 'when' && guarded[formOf(body).operator] !== undefined)
  const readers = parts.map((part) => guards.filter((guard) => guard !== part && readsGuarded(part.body, guard.body)))
  const used = new Set(readers.flat())
  return parts
    .map((part, index) => (readers[index] ?? []).reduceRight(behind, part))
    .filter((_part, index) => !used.has(parts[index] as Clause))
}

function behind(part: Clause, guard: Clause): Clause {
  const right: Expr = part.kind === 'when' ? part.body : { '!': { arg: part.body } }
  return { kind: 'when', body: { '&&': { left: guard.body, right } } }
}

/** The operators that test whether there is something to read, each with the one that reads it. */
const guarded: Readonly<Record<string, string>> = { hasTag: 'getTag', has: '.' }

/** Whether the guard is a `hasTag` or a `has`, and the expression reads the tag or the attribute that it tests. */
export function readsGuarded(body: Expr, guard: Expr): boolean {
  const { operator, operands } = formOf(guard)
  const reader = guarded[operator]
  return reader !== undefined && JSON.stringify(body).includes(JSON.stringify({ [reader]: operands }))
}

/** What conditions say for certain about who the principal is. */
import type { Clause, Expr } from '../../policy-engine/cedar/engine.ts'
import { entitiesIn, formOf, isVariable } from '../../policy-engine/cedar/expression.ts'
import type { Principal } from '../../policy-engine/cedar/question.ts'
import { type EntityScope, entityCovers } from '../../policy-engine/cedar/scope.ts'

/** A group or role whose members are meant, or a user. */
export type Member = { type: 'User' | 'Group' | 'Role'; id: string }

export function isMember({ id, group_ids, role_ids }: Principal, of: readonly Member[]): boolean {
  const held = { User: [id], Group: group_ids, Role: role_ids }
  return of.some((one) => held[one.type].includes(one.id))
}

/** Whether the scope matches nobody but these; false where that is not certain. */
export function matchesOnly(scope: EntityScope, members: readonly Member[]): boolean {
  return members.some(({ type, id }) => entityCovers({ scope: 'in', type, id }, scope))
}

/** Whether all the clauses of a rule can hold for nobody but these; false where that is not certain. */
export function holdOnlyFor(clauses: readonly Clause[], members: readonly Member[]): boolean {
  return clauses.some((clause) => decidesFor(clause, true, members))
}

/**
 * Whether each clause of a rule holds for everybody but these; false where that is not certain. A forbid with such clauses, or without any, lets
 * nobody else pass: where a clause fails with an error, a forbid counts as matching.
 */
export function holdForAllBut(clauses: readonly Clause[], members: readonly Member[]): boolean {
  return clauses.every((clause) => decidesFor(clause, false, members))
}

function decidesFor({ kind, body }: Clause, holds: boolean, members: readonly Member[]): boolean {
  return implies(body as Expr, (kind === 'when') === holds, members)
}

/** Whether an expression that evaluates to `truth` makes certain that the principal is one of these. */
function implies(expression: Expr, truth: boolean, members: readonly Member[]): boolean {
  const { operator, operands } = formOf(expression)
  const { left, right, arg } = operands
  const part = (operand: Expr | undefined, value: boolean) => operand !== undefined && implies(operand, value, members)
  switch (operator) {
    case '!':
      return part(arg, !truth)
    case '&&':
      return truth ? part(left, true) || part(right, true) : part(left, false) && part(right, false)
    case '||':
      return truth ? part(left, true) && part(right, true) : part(left, false) || part(right, false)
    case 'in':
    case '==':
      return truth && isVariable(left, 'principal') && areAmong(right, members)
    case '!=':
      return !truth && isVariable(left, 'principal') && areAmong(right, members)
    case 'is':
      return truth && isVariable(left, 'principal') && areAmong(operands.in, members)
    default:
      return false
  }
}

/** Whether the expression is an entity, or a set of entities, all of which are among these. */
function areAmong(expression: Expr | undefined, members: readonly Member[]): boolean {
  const entities = expression && entitiesIn(expression)
  return entities?.every(({ type, id }) => members.some((one) => one.type === type && one.id === id)) ?? false
}

/** How expressions of the engine's JSON are read. */
import type { Expr } from './engine.ts'

/** Operands by name, as many as the operator has. */
export type Operands = {
  left?: Expr
  right?: Expr
  arg?: Expr
  if?: Expr
  then?: Expr
  else?: Expr
  in?: Expr
  attr?: string
  entity_type?: string
  pattern?: readonly ('Wildcard' | { Literal: string })[]
}

/** The operator of an expression and what it stands on: by name, or in a row where it is a set or is called as a function. */
export function formOf(expression: Expr): { operator: string; operands: Operands; row: readonly Expr[] } {
  const [[operator, operands] = ['', {}]] = Object.entries(expression)
  return { operator, operands: operands as Operands, row: Array.isArray(operands) ? (operands as Expr[]) : [] }
}

export function isVariable(expression: Expr | undefined, name: string): boolean {
  return expression !== undefined && 'Var' in expression && expression.Var === name
}

/** The name of the attribute that is read of a variable; undefined for any other expression. */
export function attributeOf(expression: Expr, variable: string): string | undefined {
  const { operator, operands } = formOf(expression)
  return operator === '.' && isVariable(operands.left, variable) ? operands.attr : undefined
}

/** The entities that are written there, one or a set of them; undefined for anything else. */
export function entitiesIn(expression: Expr): { type: string; id: string }[] | undefined {
  const { operator, operands, row } = formOf(expression)
  if (operator === 'Set') {
    const each = row.map(entitiesIn)
    return each.every((entities) => entities !== undefined) ? each.flat() : undefined
  }
  const { __entity: entity } = (operator === 'Value' ? operands : {}) as { __entity?: { type: string; id: string } }
  return entity && [entity]
}

/** Each comparison by the one that says the same with its sides exchanged. */
export const mirrored: Readonly<Record<string, string>> = {
  ...{ '<': '>', '<=': '>=', '>': '<', '>=': '<=' },
  ...{ '==': '==', '!=': '!=' },
}

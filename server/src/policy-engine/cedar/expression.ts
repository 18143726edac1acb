/** Reads expressions in the engine's JSON. */
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
  /** Of `has`, it may be a path. */
  attr?: string
  entity_type?: string
  pattern?: readonly ('Wildcard' | { Literal: string })[]
}

/** The operator of an expression and its operands: by name, or as a list for a set or a function call. */
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

/** The entity that an expression names; undefined for any other expression. */
export function entityOf(expression: Expr): { type: string; id: string } | undefined {
  const { operator, operands } = formOf(expression)
  const { __entity: entity } = (operator === 'Value' ? operands : {}) as { __entity?: { type: string; id: string } }
  return entity
}

/** The literal entities of an expression, one or a set; undefined for any other expression. */
export function entitiesIn(expression: Expr): { type: string; id: string }[] | undefined {
  const { operator, row } = formOf(expression)
  if (operator === 'Set') {
    const each = row.map(entitiesIn)
    return each.every((entities) => entities !== undefined) ? each.flat() : undefined
  }
  const entity = entityOf(expression)
  return entity && [entity]
}

/** For each comparison, the equivalent one with its sides exchanged. */
export const mirrored: Readonly<Record<string, string>> = {
  ...{ '<': '>', '<=': '>=', '>': '<', '>=': '<=' },
  ...{ '==': '==', '!=': '!=' },
}

/**
 * What would make a condition true, or false, read from the condition itself: which settings of a question it speaks of, and
 * to what they would have to be set. A guess to begin a search with: what it cannot read it leaves open, and the engine
 * has the last word.
 */
import type { Clause, Expr } from '../cedar/engine.ts'

/** What is asked of one setting of a question. */
export type Constraint = { is?: string | boolean; not?: readonly string[]; min?: number; max?: number }

/** Settings by their names, as `context.duration_seconds`, `tag:env`, `member:Role::admin`. */
export type Wish = ReadonlyMap<string, Constraint>

const mostWays = 16
const nothing: Wish = new Map()

/** Some ways to fulfil both; those that contradict are left out. */
export function both(left: readonly Wish[], right: readonly Wish[]): Wish[] {
  return left.flatMap((one) => right.flatMap((other) => merged(one, other) ?? [])).slice(0, mostWays)
}

export function merged(one: Wish, other: Wish): Wish | undefined {
  const all = new Map(one)
  for (const [setting, constraint] of other) {
    const met = narrowed(all.get(setting) ?? {}, constraint)
    if (met === undefined) return undefined
    all.set(setting, met)
  }
  return all
}

function narrowed(a: Constraint, b: Constraint): Constraint | undefined {
  const is = a.is ?? b.is
  const not = [...(a.not ?? []), ...(b.not ?? [])]
  const [min, max] = [Math.max(a.min ?? -Infinity, b.min ?? -Infinity), Math.min(a.max ?? Infinity, b.max ?? Infinity)]
  if (a.is !== undefined && b.is !== undefined && a.is !== b.is) return undefined
  if (min > max || not.some((value) => value === is)) return undefined
  return {
    ...(is !== undefined && { is }),
    ...(not.length > 0 && { not }),
    ...(min > -Infinity && { min }),
    ...(max < Infinity && { max }),
  }
}

/** Some ways to have the clauses of a rule hold, or not hold. */
export function waysToHold(clauses: readonly Clause[], truth: boolean): Wish[] {
  const each = clauses.map(({ kind, body }) => waysOf(body as Expr, (kind === 'when') === truth))
  return truth ? each.reduce(both, [nothing]) : each.flat().slice(0, mostWays)
}

/** Every constraint that the clauses put on one setting, or its opposite would. */
export function constraintsIn(clauses: readonly Clause[]): [setting: string, constraint: Constraint][] {
  const found: [string, Constraint][] = []
  const pending = clauses.map(({ body }) => body as Expr)
  for (let next = pending.pop(); next !== undefined; next = pending.pop()) {
    const parts = partsOf(next)
    if (parts !== undefined) pending.push(...parts)
    else for (const truth of [true, false]) for (const way of atom(next, truth)) found.push(...way)
  }
  return found
}

type Node = Record<string, unknown> & { left?: Expr; right?: Expr }
type Pair = { left: Expr; right: Expr }

/** The operator of an expression, and its operands. */
function nodeOf(expression: Expr): [operator: string, node: Node] {
  return (Object.entries(expression)[0] ?? ['', {}]) as [string, Node]
}

/** What an expression is made of that is true or false itself; undefined for what is not put together. */
function partsOf(expression: Expr): Expr[] | undefined {
  const [operator, node] = nodeOf(expression)
  if (operator === '&&' || operator === '||') return [node.left, node.right] as Expr[]
  if (operator === '!') return [node.arg as Expr]
  return operator === 'if-then-else' ? ([node.if, node.then, node.else] as Expr[]) : undefined
}

function waysOf(expression: Expr, truth: boolean): Wish[] {
  const [operator, node] = nodeOf(expression)
  if (operator === '!') return waysOf(node.arg as Expr, !truth)
  if (operator === '&&' || operator === '||') {
    const [left, right] = [waysOf(node.left as Expr, truth), waysOf(node.right as Expr, truth)]
    return (operator === '&&') === truth ? both(left, right) : [...left, ...right].slice(0, mostWays)
  }
  if (operator === 'if-then-else') {
    const when = (condition: boolean, branch: unknown) =>
      both(waysOf(node.if as Expr, condition), waysOf(branch as Expr, truth))
    return [...when(true, node.then), ...when(false, node.else)].slice(0, mostWays)
  }
  return atom(expression, truth)
}

/** The ways of an expression that is not put together of others; left open where it is of no known form. */
function atom(expression: Expr, truth: boolean): Wish[] {
  const [operator, node] = nodeOf(expression)
  if (operator === 'Value') return node === (truth as unknown) ? [nothing] : []
  const setting = settingOf(expression)
  if (setting !== undefined) return [new Map([[setting, { is: truth }]])]
  const { left, right } = node as Pair
  if (operator === 'hasTag') return one(`has:${textIn(right)}`, { is: truth })
  if (operator === 'in' || operator === '==' || operator === '!=') {
    const related = relation(operator === 'in', left, right, operator === '!=' ? !truth : truth)
    if (related !== undefined) return related
  }
  if (operator === 'is' && node.in !== undefined) return relation(true, left, node.in as Expr, truth) ?? [nothing]
  if (operator === 'contains' || operator === 'containsAny' || operator === 'containsAll')
    return containing(operator, left, right, truth)
  if (operator === 'like') return matching(left, node.pattern as unknown[], truth)
  if (operator === 'isInRange') {
    const [address, range] = node as unknown as [Expr, Expr]
    return comparison('==', address, range, truth)
  }
  return comparison(operator, left, right, truth)
}

function one(setting: string, constraint: Constraint): Wish[] {
  return [new Map([[setting, constraint]])]
}

/** `principal`, `action` or `resource` beside entities. */
function relation(
  within: boolean,
  left: Expr | undefined,
  right: Expr | undefined,
  truth: boolean,
): Wish[] | undefined {
  if (left === undefined || right === undefined || !('Var' in left)) return undefined
  const entities = entitiesIn(right)
  if (entities === undefined) return undefined
  const ways = entities.map(({ type, id }): Wish[] => {
    if (left.Var === 'action') return one('action', truth ? { is: id } : { not: [id] })
    if (type === 'User') return one('principal.id', truth ? { is: id } : { not: [id] })
    if (!within) return [nothing]
    return one(left.Var === 'principal' ? `member:${type}::${id}` : `in:${type}::${id}`, { is: truth })
  })
  return truth ? ways.flat().slice(0, mostWays) : ways.reduce(both, [nothing])
}

function entitiesIn(expression: Expr): { type: string; id: string }[] | undefined {
  const [operator, node] = nodeOf(expression)
  if (operator === 'Set') {
    const each = (node as unknown as Expr[]).map(entitiesIn)
    return each.every((entities) => entities !== undefined) ? each.flat() : undefined
  }
  const { __entity: entity } = (operator === 'Value' ? node : {}) as { __entity?: { type: string; id: string } }
  return entity === undefined ? undefined : [entity]
}

/** `principal.scopes.contains("…")`, or `["…", "…"].contains(context.via)`. */
function containing(operator: string, left: Expr, right: Expr, truth: boolean): Wish[] {
  const values = literalsIn(
    operator === 'contains' && !('Set' in left) ? { Set: [right] } : 'Set' in left ? left : right,
  )
  if (isPath(left, 'principal', 'scopes')) {
    const each = values.map((value) => one(`scope:${value}`, { is: truth }))
    const all = (operator === 'containsAll') === truth || values.length === 1
    return all ? each.reduce(both, [nothing]) : each.flat().slice(0, mostWays)
  }
  const setting = settingOf(right)
  if (setting === undefined) return [nothing]
  const texts = values.filter((value) => typeof value === 'string')
  return truth ? texts.flatMap((value) => one(setting, { is: value })).slice(0, mostWays) : one(setting, { not: texts })
}

function matching(left: Expr, pattern: unknown[], truth: boolean): Wish[] {
  const setting = settingOf(left)
  if (setting === undefined) return [nothing]
  const text = pattern.map((part) => (part as { Literal?: string }).Literal ?? '').join('')
  return withTag(setting, truth ? { is: text } : { not: [text] })
}

const mirrored: Record<string, string> = { '<': '>', '<=': '>=', '>': '<', '>=': '<=', '==': '==', '!=': '!=' }
const opposite: Record<string, string> = { '<': '>=', '<=': '>', '>': '<=', '>=': '<', '==': '!=', '!=': '==' }

function comparison(operator: string, left: Expr, right: Expr, truth: boolean): Wish[] {
  if (left === undefined || right === undefined || mirrored[operator] === undefined) return [nothing]
  const here = settingOf(left)
  const setting = here ?? settingOf(right)
  const value = literalIn(here === undefined ? left : right)
  if (setting === undefined || value === undefined) return [nothing]
  const turned = here === undefined ? mirrored[operator] : operator
  return compared(setting, truth ? turned : (opposite[turned] ?? ''), value)
}

function compared(setting: string, operator: string, value: string | number | boolean): Wish[] {
  if (typeof value === 'boolean') return one(setting, { is: (operator === '==') === value })
  if (typeof value === 'string') return withTag(setting, operator === '==' ? { is: value } : { not: [value] })
  if (operator === '==') return one(setting, { min: value, max: value })
  if (operator === '!=') return [...one(setting, { max: value - 1 }), ...one(setting, { min: value + 1 })]
  const strictly = operator.endsWith('=') ? 0 : 1
  return one(setting, operator.startsWith('<') ? { max: value - strictly } : { min: value + strictly })
}

/** A tag that has a value is there. */
function withTag(setting: string, constraint: Constraint): Wish[] {
  const wish = new Map([[setting, constraint]])
  if (setting.startsWith('tag:')) wish.set(`has:${setting.slice(4)}`, { is: true })
  return [wish]
}

/** The setting that an expression reads. */
function settingOf(expression: Expr): string | undefined {
  const [operator, node] = nodeOf(expression)
  if (operator === 'getTag') return `tag:${textIn(node.right)}`
  const { left, attr } = node as { left?: { Var?: string }; attr?: string }
  const named = operator === '.' && left?.Var !== undefined && typeof attr === 'string'
  return named ? `${left.Var}.${attr}` : undefined
}

function isPath(expression: Expr, variable: string, attribute: string): boolean {
  return settingOf(expression) === `${variable}.${attribute}`
}

function textIn(expression: Expr | undefined): string {
  return String((expression as { Value?: unknown } | undefined)?.Value ?? '')
}

/** A literal: text, a number, a moment in milliseconds, an address without its range. */
function literalIn(expression: Expr): string | number | boolean | undefined {
  const [operator, node] = nodeOf(expression)
  const value: unknown = operator === 'Value' ? node : undefined
  if (typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean') return value
  const [argument] = Array.isArray(node) ? (node as Expr[]) : []
  if (argument === undefined) return undefined
  if (operator === 'ip') return textIn(argument).split('/')[0]
  const moment = operator === 'datetime' ? Date.parse(textIn(argument)) : Number.NaN
  return Number.isNaN(moment) ? undefined : moment
}

function literalsIn(expression: Expr): (string | number | boolean)[] {
  const [operator, node] = nodeOf(expression)
  if (operator !== 'Set') return []
  return (node as unknown as Expr[]).flatMap((element) => literalIn(element) ?? [])
}

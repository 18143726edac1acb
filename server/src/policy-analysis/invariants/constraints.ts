/**
 * What would make a condition true or false, read from the condition itself: the settings of a question that it tests, and the
 * values that they would need. A heuristic start for a search: an expression of unknown form is left open, and the engine decides.
 */
import { instantOf } from '../../policy-engine/cedar/circumstance.ts'
import type { Clause, Expr } from '../../policy-engine/cedar/engine.ts'
import {
  attributeOf,
  entitiesIn,
  formOf,
  isVariable,
  mirrored,
  type Operands,
} from '../../policy-engine/cedar/expression.ts'

/** The constraint on one setting of a question. Of a request to decide, the settings of its requester begin with `requester`. */
export type Constraint = { is?: string | boolean; not?: readonly string[]; min?: number; max?: number }

/** Settings by their names, as `context.duration_seconds`, `tag:env`, `member:Role::admin`. */
export type Constraints = ReadonlyMap<string, Constraint>

/** In place of the id of a manager: the other of the two people of a decision. */
export const theOther = '\0the other'

const maxAssignments = 16
const nothing: Constraints = new Map()

/** Some assignments that satisfy both; contradictory ones are left out. */
export function both(left: readonly Constraints[], right: readonly Constraints[]): Constraints[] {
  return left.flatMap((one) => right.flatMap((other) => merged(one, other) ?? [])).slice(0, maxAssignments)
}

export function merged(one: Constraints, other: Constraints): Constraints | undefined {
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

/** Some assignments for which the clauses of a rule hold, or do not hold. */
export function assignmentsFor(clauses: readonly Clause[], truth: boolean): Constraints[] {
  const each = clauses.map(({ kind, body }) => assignmentsOf(body as Expr, (kind === 'when') === truth))
  return truth ? each.reduce(both, [nothing]) : each.flat().slice(0, maxAssignments)
}

/** Every constraint that the clauses or their negations put on one setting. */
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

type Pair = { left: Expr; right: Expr }

/** The boolean operands of an expression; undefined for an expression that is not composed of others. */
function partsOf(expression: Expr): Expr[] | undefined {
  const { operator, operands } = formOf(expression)
  if (operator === '&&' || operator === '||') return [operands.left, operands.right] as Expr[]
  if (operator === '!') return [operands.arg as Expr]
  return operator === 'if-then-else' ? ([operands.if, operands.then, operands.else] as Expr[]) : undefined
}

function assignmentsOf(expression: Expr, truth: boolean): Constraints[] {
  const { operator, operands } = formOf(expression)
  if (operator === '!') return assignmentsOf(operands.arg as Expr, !truth)
  if (operator === '&&' || operator === '||') {
    const [left, right] = [assignmentsOf(operands.left as Expr, truth), assignmentsOf(operands.right as Expr, truth)]
    return (operator === '&&') === truth ? both(left, right) : [...left, ...right].slice(0, maxAssignments)
  }
  if (operator === 'if-then-else') {
    const when = (condition: boolean, branch: Expr | undefined) =>
      both(assignmentsOf(operands.if as Expr, condition), assignmentsOf(branch as Expr, truth))
    return [...when(true, operands.then), ...when(false, operands.else)].slice(0, maxAssignments)
  }
  return atom(expression, truth)
}

/** The assignments for an expression that is not composed of others; left open for an unknown form. */
function atom(expression: Expr, truth: boolean): Constraints[] {
  if ('Value' in expression) return (expression.Value as unknown) === truth ? [nothing] : []
  const setting = settingOf(expression)
  if (setting !== undefined) return [new Map([[setting, { is: truth }]])]
  const { operator, operands, row } = formOf(expression)
  const { left, right } = operands as Pair
  if (operator.startsWith('has')) return present(operands, truth)
  if (operator === 'in' || operator === '==' || operator === '!=') {
    const related = relation(operator === 'in', left, right, operator === '!=' ? !truth : truth)
    if (related !== undefined) return related
  }
  if (operator === 'is' && operands.in !== undefined) return relation(true, left, operands.in, truth) ?? [nothing]
  if (operator === 'contains' || operator === 'containsAny' || operator === 'containsAll')
    return containing(operator, left, right, truth)
  if (operator === 'like') return matching(left, operands.pattern ?? [], truth)
  if (operator === 'isInRange') return comparison('==', row[0], row[1], truth)
  return comparison(operator, left, right, truth)
}

function one(setting: string, constraint: Constraint): Constraints[] {
  return [new Map([[setting, constraint]])]
}

/** What an expression stands for: a variable, or the requester of the request to decide. */
function subjectOf(expression: Expr): string | undefined {
  if (attributeOf(expression, 'resource') === 'requester') return 'requester'
  return ['principal', 'action', 'resource', 'context'].find((name) => isVariable(expression, name))
}

/** `hasTag`; or `principal has department`: a fact that is known, or not. `has` may test a path: `resource has requester.manager`. */
function present({ left, right, attr }: Operands, truth: boolean): Constraints[] {
  if (attr === undefined) return one(`has:${textIn(right)}`, { is: truth })
  const path = [attr].flat()
  const name = path.pop()
  const tested = path.reduce<Expr | undefined>((of, part) => of && { '.': { left: of, attr: part } }, left)
  const subject = tested && subjectOf(tested)
  return subject === undefined ? [nothing] : one(`known:${subject}.${name}`, { is: truth })
}

/** The other person of a decision: whom a rule may compare with somebody's manager. */
const otherPerson = { principal: 'requester', requester: 'principal' } as const

/** `resource.requester.manager == principal`, or a manager compared with users whom the rule names. */
function managed(left: Expr | undefined, right: Expr | undefined, truth: boolean): Constraints[] | undefined {
  const [read, other] = left && managedBy(left) !== undefined ? [left, right] : [right, left]
  const subject = read && managedBy(read)
  if (subject === undefined || other === undefined) return undefined
  const users = subjectOf(other) === otherPerson[subject] ? [theOther] : entitiesIn(other)?.map(({ id }) => id)
  if (users === undefined) return undefined
  const setting = `${subject}.manager`
  return truth ? users.flatMap((id) => one(setting, { is: id })).slice(0, maxAssignments) : one(setting, { not: users })
}

function managedBy(expression: Expr): 'principal' | 'requester' | undefined {
  const { operator, operands } = formOf(expression)
  if (operator !== '.' || operands.attr !== 'manager' || operands.left === undefined) return undefined
  const subject = subjectOf(operands.left)
  return subject === 'principal' || subject === 'requester' ? subject : undefined
}

/** `principal`, `action`, `resource` or `resource.requester` compared with entities. */
function relation(
  within: boolean,
  left: Expr | undefined,
  right: Expr | undefined,
  truth: boolean,
): Constraints[] | undefined {
  const compared = within ? undefined : managed(left, right, truth)
  if (compared !== undefined) return compared
  const subject = left && subjectOf(left)
  const entities = right && entitiesIn(right)
  if (subject === undefined || entities === undefined) return undefined
  const kind = subject === 'resource' ? 'in:' : subject === 'requester' ? 'requester:member:' : 'member:'
  const assignments = entities.map(({ type, id }): Constraints[] => {
    if (subject === 'action') return one('action', truth ? { is: id } : { not: [id] })
    if (type === 'User') return one(`${subject}.id`, truth ? { is: id } : { not: [id] })
    return within ? one(`${kind}${type}::${id}`, { is: truth }) : [nothing]
  })
  return truth ? assignments.flat().slice(0, maxAssignments) : assignments.reduce(both, [nothing])
}

/** `principal.scopes.contains("…")`, or `["…", "…"].contains(context.via)`. */
function containing(operator: string, left: Expr, right: Expr, truth: boolean): Constraints[] {
  const values = literalsIn(
    operator === 'contains' && !('Set' in left) ? { Set: [right] } : 'Set' in left ? left : right,
  )
  const held = settingOf(left)
  if (held === 'principal.scopes' || held === 'requester.scopes') {
    const kind = held === 'principal.scopes' ? 'scope:' : 'requester:scope:'
    const each = values.map((value) => one(`${kind}${value}`, { is: truth }))
    const all = (operator === 'containsAll') === truth || values.length === 1
    return all ? each.reduce(both, [nothing]) : each.flat().slice(0, maxAssignments)
  }
  const setting = settingOf(right)
  if (setting === undefined) return [nothing]
  const texts = values.filter((value) => typeof value === 'string')
  return truth
    ? texts.flatMap((value) => one(setting, { is: value })).slice(0, maxAssignments)
    : one(setting, { not: texts })
}

function matching(left: Expr, pattern: NonNullable<Operands['pattern']>, truth: boolean): Constraints[] {
  const setting = settingOf(left)
  if (setting === undefined) return [nothing]
  const text = pattern.map((part) => (part === 'Wildcard' ? '' : part.Literal)).join('')
  return withTag(setting, truth ? { is: text } : { not: [text] })
}

const opposite: Record<string, string> = { '<': '>=', '<=': '>', '>': '<=', '>=': '<', '==': '!=', '!=': '==' }

function comparison(operator: string, left: Expr | undefined, right: Expr | undefined, truth: boolean): Constraints[] {
  if (left === undefined || right === undefined || mirrored[operator] === undefined) return [nothing]
  const here = settingOf(left)
  const setting = here ?? settingOf(right)
  const value = literalIn(here === undefined ? left : right)
  if (setting === undefined || value === undefined) return [nothing]
  const turned = here === undefined ? mirrored[operator] : operator
  return compared(setting, truth ? turned : (opposite[turned] ?? ''), value)
}

function compared(setting: string, operator: string, value: string | number | boolean): Constraints[] {
  if (typeof value === 'boolean') return one(setting, { is: (operator === '==') === value })
  if (typeof value === 'string') return withTag(setting, operator === '==' ? { is: value } : { not: [value] })
  if (operator === '==') return one(setting, { min: value, max: value })
  if (operator === '!=') return [...one(setting, { max: value - 1 }), ...one(setting, { min: value + 1 })]
  const strictly = operator.endsWith('=') ? 0 : 1
  return one(setting, operator.startsWith('<') ? { max: value - strictly } : { min: value + strictly })
}

/** A tag with a value also exists. */
function withTag(setting: string, constraint: Constraint): Constraints[] {
  const constraints = new Map([[setting, constraint]])
  if (setting.startsWith('tag:')) constraints.set(`has:${setting.slice(4)}`, { is: true })
  return [constraints]
}

/** The setting that an expression reads. */
function settingOf(expression: Expr): string | undefined {
  const { operator, operands } = formOf(expression)
  if (operator === 'getTag') return `tag:${textIn(operands.right)}`
  const subject = operator === '.' && operands.left !== undefined ? subjectOf(operands.left) : undefined
  return subject && `${subject}.${operands.attr}`
}

function textIn(expression: Expr | undefined): string {
  return String((expression as { Value?: unknown } | undefined)?.Value ?? '')
}

/** A literal: text, a number, a moment in milliseconds, an address without its range. */
function literalIn(expression: Expr): string | number | boolean | undefined {
  const value = 'Value' in expression ? (expression.Value as unknown) : undefined
  if (typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean') return value
  const { operator, row } = formOf(expression)
  return operator === 'ip' && row[0] !== undefined ? textIn(row[0]).split('/')[0] : instantOf(expression)
}

function literalsIn(expression: Expr): (string | number | boolean)[] {
  const { operator, row } = formOf(expression)
  return operator === 'Set' ? row.flatMap((element) => literalIn(element) ?? []) : []
}

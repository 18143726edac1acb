/**
 * What the conditions of a rule must find in a question, as far as their first parts tell. Where the question has something else, the rule
 * neither matches nor fails, so that it may be left out as if its scope did not fit.
 *
 * The engine evaluates the parts of a condition in order, ends at the first that is false, and reports the first that fails. A part counts
 * here only if it cannot fail, whatever the question, and no part before it can: at the first other part, the reading ends.
 */
import { partsOf } from '../cedar/conjunct.ts'
import type { Clause, Expr } from '../cedar/engine.ts'
import { attributeOf, entityOf, formOf, isVariable, mirrored } from '../cedar/expression.ts'
import type { EngineQuestion } from '../cedar/question.ts'
import { plainReference } from '../cedar/scope.ts'
import { entityKeyOf, type KeyedEntity, type KeyedScope } from './keyed-scope.ts'

/** One of the values must be that of the fact. */
export type FactKey = { path: string; values: readonly string[] }

/** All of it must be so. */
export type Narrowing = { facts: readonly FactKey[]; scopes: readonly KeyedScope[] }

/** The facts of a question that are text, a number, true or false, by path; a fact of another kind has an empty value, which no key has. */
export type FactValues = ReadonlyMap<string, string>

type Kind = 'string' | 'number' | 'boolean'

/**
 * What every question has by the schema, of which the engine refuses any other question. A part that reads something else can fail, unless
 * a part before it has tested that it is there.
 */
const alwaysThere: ReadonlyMap<string, Kind> = new Map([
  ['principal.email', 'string'],
  ['principal.email_verified', 'boolean'],
  ['principal.name', 'string'],
  ['principal.active', 'boolean'],
  ['principal.auth_provider', 'string'],
  ['principal.is_owner', 'boolean'],
  ['context.duration_seconds', 'number'],
  ['context.has_reason', 'boolean'],
  ['context.break_glass', 'boolean'],
  ['context.weekday', 'number'],
  ['context.minute', 'number'],
  ['context.via', 'string'],
])

const variables = ['principal', 'resource', 'context'] as const
const attribute = (of: string, name: string) => `${of}.${name}`
const tag = (of: string, name: string) => `${of}#${name}`

/** What a part that cannot fail wants, where that is known: that a fact is there, that it has a value, one more scope. */
type Part = { present?: string; fact?: FactKey; scope?: KeyedScope }

/** The characters that a rule's facts may take in memory: a condition of 10,000 bytes could name each path with many values. */
const maxFactSize = 4_000

function sizeOf({ path, values }: FactKey): number {
  return values.reduce((sum, value) => sum + path.length + value.length + 40, 0)
}

/** What the conditions must find. */
export function narrowingOf(clauses: readonly Clause[]): Narrowing {
  const [facts, scopes]: [FactKey[], KeyedScope[]] = [[], []]
  const there = new Set(alwaysThere.keys())
  let room = maxFactSize
  for (const { kind, body } of partsOf(clauses)) {
    const part = readPart(body, there, kind === 'when')
    if (part === undefined) break
    const size = part.fact === undefined ? 0 : sizeOf(part.fact)
    if (part.fact !== undefined && size <= room) {
      facts.push(part.fact)
      room -= size
    }
    if (kind === 'unless') continue
    if (part.present !== undefined) there.add(part.present)
    if (part.scope !== undefined) scopes.push(part.scope)
  }
  return { facts, scopes }
}

/** Undefined for a part that can fail. `isWanted`: the part must be true, not false. */
function readPart(body: Expr, there: ReadonlySet<string>, isWanted: boolean): Part | undefined {
  const path = pathOf(body)
  if (path !== undefined)
    return alwaysThere.get(path) === 'boolean' ? { fact: { path, values: [valueKey(isWanted)] } } : undefined
  const { operator, operands, row } = formOf(body)
  const { left, right } = operands
  if (left === undefined || row.length > 0) return undefined
  if (operator === 'has' || operator === 'hasTag') return presence(operator, left, operands.attr ?? right)
  const scope = scopeOf(operator, left, right, operands.entity_type, operands.in)
  if (scope !== undefined) return { scope }
  return right === undefined ? undefined : comparison(operator, left, right, there, isWanted)
}

function presence(operator: 'has' | 'hasTag', left: Expr, name: unknown): Part | undefined {
  const of = variables.find((variable) => isVariable(left, variable))
  if (of === undefined) return undefined
  if (operator === 'has') return typeof name === 'string' ? { present: attribute(of, name) } : undefined
  const key = of === 'context' ? undefined : literalOf(name as Expr)
  return typeof key === 'string' ? { present: tag(of, key) } : undefined
}

/** A test of the principal, the action or the resource itself, which is one more scope. */
function scopeOf(
  operator: string,
  left: Expr,
  right: Expr | undefined,
  type: string | undefined,
  within: Expr | undefined,
): KeyedScope | undefined {
  const any: KeyedScope = { principal: {}, actions: undefined, resource: {} }
  const entity = right === undefined ? undefined : entityOf(right)
  if (isVariable(left, 'action')) return operator === '==' && entity ? { ...any, actions: [entity.id] } : undefined
  const side = (['principal', 'resource'] as const).find((variable) => isVariable(left, variable))
  let tested: KeyedEntity | undefined
  if (operator === '==' && entity) tested = { is: entityKeyOf(entity) }
  if (operator === 'in' && entity) tested = { within: entityKeyOf(entity) }
  if (operator === 'is' && type !== undefined && within === undefined) tested = { type }
  return side && tested && { ...any, [side]: tested }
}

/** A comparison of a fact that is there with literals. */
function comparison(
  operator: string,
  left: Expr,
  right: Expr,
  there: ReadonlySet<string>,
  isWanted: boolean,
): Part | undefined {
  if (operator === 'contains') return isWanted ? oneOf(left, right, there) : undefined
  const path = pathOf(left)
  if (path === undefined)
    return pathOf(right) === undefined || mirrored[operator] === undefined
      ? undefined
      : comparison(mirrored[operator], right, left, there, isWanted)
  const literal = literalOf(right)
  if (literal === undefined || !there.has(path)) return undefined
  if (operator === '==') return isWanted ? { fact: { path, values: [valueKey(literal)] } } : {}
  if (operator === '!=') return isWanted ? {} : { fact: { path, values: [valueKey(literal)] } }
  const areNumbers = alwaysThere.get(path) === 'number' && typeof literal === 'number'
  return areNumbers && mirrored[operator] !== undefined ? {} : undefined
}

function oneOf(set: Expr, element: Expr, there: ReadonlySet<string>): Part | undefined {
  const path = pathOf(element)
  const { operator, row } = formOf(set)
  if (path === undefined || !there.has(path) || operator !== 'Set') return undefined
  const literals = row.map(literalOf)
  if (!literals.every((literal) => literal !== undefined)) return undefined
  return { fact: { path, values: [...new Set(literals.map(valueKey))] } }
}

/** The path of a fact of the question that the expression reads. */
function pathOf(expression: Expr): string | undefined {
  const { operator, operands } = formOf(expression)
  for (const of of variables) {
    const name = attributeOf(expression, of)
    if (name !== undefined) return attribute(of, name)
    if (operator !== 'getTag' || of === 'context' || !isVariable(operands.left, of)) continue
    const key = operands.right === undefined ? undefined : literalOf(operands.right)
    if (typeof key === 'string') return tag(of, key)
  }
  return undefined
}

type Literal = string | number | boolean

/** Past 2^53 the engine's integers arrive as their digits, which are not compared here. */
function literalOf(expression: Expr): Literal | undefined {
  const value = typeof expression === 'object' && 'Value' in expression ? (expression.Value as unknown) : undefined
  if (typeof value === 'string' || typeof value === 'boolean' || Number.isSafeInteger(value)) return value as Literal
  return undefined
}

function valueKey(value: Literal): string {
  return `${typeof value} ${value}`
}

/**
 * The facts of a question.
 * @throws Error for a question without what every question has
 */
export function factValuesOf({ principal, resource, context, entities }: EngineQuestion): FactValues {
  const values = new Map<string, string>()
  const note = (path: string, value: unknown) =>
    values.set(path, literalOf({ Value: value } as Expr) === undefined ? '' : valueKey(value as Literal))
  const noteAll = (of: string, attributes: object) => {
    for (const [name, value] of Object.entries(attributes)) note(attribute(of, name), value)
  }
  noteAll('context', context)
  for (const [of, reference] of [['principal', principal] as const, ['resource', resource] as const]) {
    const key = entityKeyOf(plainReference(reference))
    const entity = entities.find(({ uid }) => entityKeyOf(plainReference(uid)) === key)
    noteAll(of, entity?.attrs ?? {})
    for (const [name, value] of Object.entries(entity?.tags ?? {})) note(tag(of, name), value)
  }
  for (const path of alwaysThere.keys()) if (!values.has(path)) throw new Error(`the question lacks \`${path}\``)
  return values
}

/** Whether the question has what a rule's conditions must find, beyond their scopes. */
export function hasFacts(facts: readonly FactKey[], values: FactValues): boolean {
  return facts.every(({ path, values: wanted }) => wanted.includes(values.get(path) ?? ''))
}

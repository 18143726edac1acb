/**
 * The circumstances of a question that a requester can change or wait for, and the values of one for which a condition holds.
 * Used for explanations only: the engine decides whether a condition holds.
 */
import type { Clause, Expr } from './engine.ts'
import { attributeOf, formOf, mirrored } from './expression.ts'
import type { RequestContext } from './question.ts'
import { localTime } from './question.ts'
import { complement, everyNumber, intersection, only, type Ranges, union } from './range.ts'

/** How the values of each circumstance are numbered, by its name in a question's context. */
const numbering = {
  duration_seconds: Number,
  has_reason: Number,
  break_glass: Number,
  via: (value: unknown) => roads.indexOf(value as (typeof roads)[number]),
  weekday: Number,
  minute: Number,
  now: (value: unknown) => (value instanceof Date ? value.getTime() : Number.NaN),
} as const

/** A circumstance with numeric or numbered values: false is 0, a token 0, an API key 1, an instant its milliseconds. */
export type Circumstance = keyof typeof numbering

export const roads = ['token', 'api_key'] as const

const domains: Partial<Record<Circumstance, Ranges>> = {
  has_reason: [[0, 1]],
  break_glass: [[0, 1]],
  via: [[0, 1]],
  weekday: [[1, 7]],
  minute: [[0, 1439]],
}

/** The value of a circumstance in a question, as a number. */
export function numberIn(context: RequestContext, circumstance: Circumstance): number {
  return numbering[circumstance]({ ...context, ...localTime(context.now, context.time_zone) }[circumstance])
}

export type Values = { circumstance: Circumstance; values: Ranges }

/** The values of one circumstance for which the clause holds; undefined where the clause tests more, or in another form. */
export function valuesOf({ kind, body }: Clause): Values | undefined {
  const read = valuesWhere(body)
  if (read === undefined) return undefined
  return bounded(kind === 'when' ? read : { ...read, values: complement(read.values) })
}

/** The values for which the condition does not hold. */
export function otherValues({ circumstance, values }: Values): Values {
  return bounded({ circumstance, values: complement(values) })
}

/** The values of one circumstance for which both conditions hold. */
export function bothValues(one: Values, other: Values): Values {
  return { ...one, values: intersection(one.values, other.values) }
}

function bounded({ circumstance, values }: Values): Values {
  return { circumstance, values: intersection(values, domains[circumstance] ?? everyNumber) }
}

function valuesWhere(body: Expr): Values | undefined {
  const { operator, operands } = formOf(body)
  const { left, right, arg } = operands
  const itself = circumstanceOf(body)
  if (itself === 'has_reason' || itself === 'break_glass') return { circumstance: itself, values: only(1) }
  if (operator === '!' && arg !== undefined) {
    const read = valuesWhere(arg)
    return read && { ...read, values: complement(read.values) }
  }
  if (left === undefined || right === undefined) return undefined
  if (operator === '&&') return joined(left, right, intersection)
  if (operator === '||') return joined(left, right, union)
  if (operator === 'contains') return containedIn(left, right)
  return compared(operator, left, right)
}

function joined(left: Expr, right: Expr, join: (one: Ranges, other: Ranges) => Ranges): Values | undefined {
  const [one, other] = [valuesWhere(left), valuesWhere(right)]
  if (one === undefined || one.circumstance !== other?.circumstance) return undefined
  return { ...one, values: join(one.values, other.values) }
}

function containedIn(set: Expr, element: Expr): Values | undefined {
  const circumstance = circumstanceOf(element)
  const { operator, row } = formOf(set)
  if (circumstance === undefined || operator !== 'Set') return undefined
  const numbers = row.map((one) => literal(circumstance, one))
  if (!numbers.every((number) => number !== undefined)) return undefined
  return { circumstance, values: numbers.map(only).reduce(union, []) }
}

const comparisons: Readonly<Record<string, (than: number) => Ranges>> = {
  '==': only,
  '!=': (than) => complement(only(than)),
  '<': (than) => [[Number.NEGATIVE_INFINITY, than - 1]],
  '<=': (than) => [[Number.NEGATIVE_INFINITY, than]],
  '>': (than) => [[than + 1, Number.POSITIVE_INFINITY]],
  '>=': (than) => [[than, Number.POSITIVE_INFINITY]],
}

function compared(operator: string, left: Expr, right: Expr): Values | undefined {
  const circumstance = circumstanceOf(left)
  if (circumstance === undefined) {
    return circumstanceOf(right) === undefined ? undefined : compared(mirrored[operator] ?? operator, right, left)
  }
  const than = literal(circumstance, right)
  const values = than === undefined ? undefined : comparisons[operator]?.(than)
  return values && { circumstance, values }
}

/** `context.…` of a circumstance. */
function circumstanceOf(expression: Expr): Circumstance | undefined {
  const name = attributeOf(expression, 'context')
  return name !== undefined && Object.hasOwn(numbering, name) ? (name as Circumstance) : undefined
}

/** The number of a literal in the rule; undefined for a value that the circumstance cannot have. */
function literal(circumstance: Circumstance, expression: Expr): number | undefined {
  if (circumstance === 'now') return instantOf(expression)
  const value = 'Value' in expression ? (expression.Value as unknown) : undefined
  if (circumstance === 'via') return typeof value === 'string' ? numbering.via(value) : undefined
  if (circumstance === 'has_reason' || circumstance === 'break_glass')
    return typeof value === 'boolean' ? Number(value) : undefined
  // Past 2^53 the engine's integers arrive as their digits, which this code does not calculate with.
  return Number.isSafeInteger(value) ? (value as number) : undefined
}

const instantForm = /^(\d{4}-\d{2}-\d{2})(?:T(\d{2}:\d{2}:\d{2}(?:\.\d{3})?)(?:Z|([+-]\d{2})(\d{2})))?$/

/** Milliseconds of `datetime("…")`. */
export function instantOf(expression: Expr): number | undefined {
  const { operator, row } = formOf(expression)
  const [argument] = operator === 'datetime' ? row : []
  const value = argument !== undefined && 'Value' in argument ? argument.Value : undefined
  const [, day, time = '00:00:00', hours, minutes] = instantForm.exec(typeof value === 'string' ? value : '') ?? []
  if (day === undefined) return undefined
  const instant = Date.parse(`${day}T${time}${hours === undefined ? 'Z' : `${hours}:${minutes}`}`)
  return Number.isNaN(instant) ? undefined : instant
}

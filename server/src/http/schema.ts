import { type Static, type TSchema, Type } from 'typebox'
import { Compile } from 'typebox/compile'
import Format from 'typebox/format'
import { Settings } from 'typebox/system'
import { type FaultyField, invalidInput } from '../kernel/errors.ts'
import {
  namesProvisioner,
  namesUser,
  provisionerPattern,
  provisionerRule,
  userPattern,
  userRule,
} from '../kernel/id.ts'
import { readMoment } from '../kernel/moment.ts'
import { isName, isPlainLine, linePattern, lineRule, namePattern, nameRule } from '../kernel/one-line-name.ts'

/** What the document says of an input beyond the check of its schema. */
export type DocumentedKeywords = {
  maxLength?: number
  pattern?: string
  enum?: readonly string[]
  maximum?: number
  uniqueItems?: true
  maxProperties?: number
}

type JsonSchema = {
  documented?: DocumentedKeywords
  type?: string
  format?: string
  pattern?: string
  enum?: readonly unknown[]
  description?: string
  properties?: Record<string, JsonSchema>
  additionalProperties?: unknown
  required?: string[]
  items?: JsonSchema
  maxItems?: number
}

/**
 * A schema with keywords for the document alone: other code refuses what breaks them, with an error of its own. For inputs only.
 */
export function Documented<Schema extends TSchema>(schema: Schema, documented: DocumentedKeywords): Schema {
  return { ...schema, documented }
}

/** The schema as the document shows it, with the keywords of `Documented`. */
export function asDocumented({ documented, ...schema }: JsonSchema): Omit<JsonSchema, 'documented'> {
  return { ...schema, ...documented }
}

/** The schema as plain JSON Schema, for reading its keywords, which TypeBox's types hide. */
export function jsonSchemaOf(schema: TSchema): JsonSchema {
  return schema as unknown as JsonSchema
}

/** A schema whose value may be null; in the document `type: [x, 'null']`. */
export function Nullable<Schema extends TSchema>(schema: Schema) {
  const { type, ...rest } = jsonSchemaOf(schema)
  const values = rest.enum === undefined ? {} : { enum: [...rest.enum, null] }
  return Type.Unsafe<Static<Schema> | null>({ ...rest, ...values, type: [type, 'null'] })
}

/** A string enum. */
export function OneOf<const Values extends readonly string[]>(values: Values, options: object = {}) {
  return Type.Unsafe<Values[number]>({ type: 'string', enum: [...values], ...options })
}

/** A name that a caller sends: one line that is not blank. Replies show names as plain strings, since older ones may break the rule. */
export function Name(maxLength: number, options: { description?: string } = {}) {
  return Type.String({ minLength: 1, maxLength, pattern: namePattern, ...options })
}

/** One line that a caller sends. It may be blank, and empty with a `minLength` of 0. */
export function Line(maxLength: number, options: { description?: string; minLength?: number } = {}) {
  return Type.String({ minLength: 1, maxLength, pattern: linePattern, ...options })
}

export const Uuid = Type.String({ format: 'uuid' })
/** ISO 8601, UTC, ends in `Z`. */
export const DateTime = Type.String({ format: 'date-time' })
/** An object whose values may be anything. */
export const AnyObject = Type.Unsafe<Record<string, unknown>>({ type: 'object', additionalProperties: true })

/** The reply of an operation that answers 302: the address. */
export const Redirect = Type.Object({ location: Type.String() })
export type Redirect = Static<typeof Redirect>

/** `{id}` in a path. */
export const IdParams = Type.Object({ id: Uuid })

/** Of nine digits: see `readQueryValue`. */
const maxQueryInteger = 999_999_999

/** The query parameters of every list. */
export const pageQuery = {
  limit: Type.Optional(
    Documented(
      Type.Integer({ minimum: 1, description: 'items per page; 50 when absent; more than 200 count as 200' }),
      {
        maximum: maxQueryInteger,
      },
    ),
  ),
  cursor: Type.Optional(Type.String({ description: '`next_cursor` of the previous page' })),
}

/** The reply of every list. */
export function PageOf<Row extends TSchema>(row: Row) {
  return Type.Object({ data: Type.Array(row), next_cursor: Type.Optional(Type.String()), has_more: Type.Boolean() })
}

/** A body schema that refuses unknown fields. */
export function Body<Properties extends Record<string, TSchema>>(properties: Properties) {
  return Type.Object(properties, { additionalProperties: false })
}

/** How long the previous secrets stay valid when a rotation does not set it. */
export const usualOverlapSeconds = 86_400

/** The body of every rotation of secrets. */
export const SecretRotation = Body({
  overlap_seconds: Type.Optional(
    Type.Integer({
      minimum: 0,
      maximum: 7 * usualOverlapSeconds,
      description: 'how long the previous secrets stay valid; a day when absent; use 0 when they have leaked',
    }),
  ),
})

type Fault = { keyword: string; instancePath: string; message: string; params: Record<string, unknown> }

/** Returns the faults of a value, each with its location and a plain reason. */
export type Check = (value: unknown) => FaultyField[]

/** The faults of one value that are reported, at most; a caller with more fixes these first. */
const maxFaults = 100
Settings.Set({ maxErrors: maxFaults })
// The library accepts dates that PostgreSQL refuses.
Format.Set('date-time', (text) => readMoment(text) !== undefined)

const compiled = new WeakMap<TSchema, Check>()

/** The check of a schema, compiled once, however many servers a process builds. */
export function compileCheck(schema: TSchema): Check {
  const known = compiled.get(schema)
  if (known !== undefined) return known
  const check = compile(schema)
  compiled.set(schema, check)
  return check
}

/**
 * INVARIANT: a value that does not pass has at least one fault, even when the library reports none of use: it stops after
 * `maxFaults`, and some of its errors mean nothing to a caller.
 */
function compile(schema: TSchema): Check {
  const validator = Compile(schema)
  return (value) => {
    if (validator.Check(value)) return []
    const tooMany = excess(jsonSchemaOf(schema), value, '')
    if (tooMany.length > 0) return tooMany
    const faults = (validator.Errors(value) as Fault[]).flatMap(explain)
    return faults.length > 0 ? faults : [{ pointer: '', why: 'does not match the schema of this endpoint' }]
  }
}

/**
 * Only the places where a value has more items than allowed, or more unknown fields than are reported. Searching a megabyte
 * of them for every fault would block the service for a second.
 */
function excess(schema: JsonSchema, value: unknown, pointer: string): FaultyField[] {
  if (Array.isArray(value)) {
    const { items, maxItems = Number.POSITIVE_INFINITY } = schema
    if (value.length > maxItems) return [{ pointer, why: `must not have more than ${maxItems} items` }]
    if (items?.properties === undefined) return []
    return value.flatMap((item, index) => excess(items, item, `${pointer}/${index}`))
  }
  const { properties } = schema
  if (typeof value !== 'object' || value === null || properties === undefined) return []
  const unknown = Object.keys(value).filter((name) => !Object.hasOwn(properties, name))
  if (schema.additionalProperties === false && unknown.length > maxFaults) {
    return unknown.slice(0, maxFaults).map((name) => ({ pointer: under(pointer, name), why: 'is not a known field' }))
  }
  return Object.entries(properties).flatMap(([name, inner]) =>
    excess(inner, Object.hasOwn(value, name) ? Reflect.get(value, name) : undefined, under(pointer, name)),
  )
}

function under(pointer: string, name: unknown): string {
  return `${pointer}/${String(name).replaceAll('~', '~0').replaceAll('/', '~1')}`
}

function explain(fault: Fault): FaultyField[] {
  const { keyword, instancePath, params, message } = fault
  switch (keyword) {
    case 'required':
      return asList(params.requiredProperties).map((name) => ({
        pointer: under(instancePath, name),
        why: 'is required',
      }))
    case 'additionalProperties':
      return asList(params.additionalProperties).map((name) => ({
        pointer: under(instancePath, name),
        why: 'is not a known field',
      }))
    case 'enum':
      return [{ pointer: instancePath, why: `must be one of ${asList(params.allowedValues).join(', ')}` }]
    case 'format':
      return [{ pointer: instancePath, why: formats[String(params.format)] ?? `must be a ${String(params.format)}` }]
    case 'pattern':
      return [{ pointer: instancePath, why: patterns.get(String(params.pattern))?.rule ?? message }]
    case 'boolean':
      return []
    default:
      return [{ pointer: instancePath, why: message }]
  }
}

/** What to send, where the name of the format does not say it. */
const formats: Readonly<Record<string, string>> = {
  'date-time': 'must be a date-time of the years 0001 to 9999, such as `2026-11-22T10:00:00Z`',
}

/** The rule of a name or a line as a half-sentence, and whether a text keeps it. */
type TextRule = { rule: string; keeps(text: string): boolean }

/** What to send, where the pattern itself would not tell a person. */
const patterns: ReadonlyMap<string | undefined, TextRule> = new Map([
  [linePattern, { rule: lineRule, keeps: isPlainLine }],
  [namePattern, { rule: nameRule, keeps: isName }],
  [userPattern, { rule: userRule, keeps: namesUser }],
  [provisionerPattern, { rule: provisionerRule, keeps: namesProvisioner }],
])

/** The rule of a name or a line; undefined for another schema. */
export function textRule({ pattern }: { pattern?: string }): TextRule | undefined {
  return patterns.get(pattern)
}

function asList(value: unknown): unknown[] {
  return Array.isArray(value) ? value : []
}

/** Converts query strings that the schema declares as integers, booleans or lists; the rest stays as text. */
export function readQuery(schema: TSchema, raw: unknown): Record<string, unknown> {
  const { properties = {} } = jsonSchemaOf(schema)
  const faults: FaultyField[] = []
  const query: Record<string, unknown> = {}
  for (const [name, value] of Object.entries(raw as Record<string, unknown>)) {
    const type = properties[name]?.type
    if (Array.isArray(value)) faults.push({ pointer: name, why: 'is given twice; give it once' })
    else if (type === undefined) faults.push({ pointer: name, why: 'is not a known parameter' })
    else query[name] = readQueryValue(type, String(value))
  }
  if (faults.length > 0) throw invalidInput(faults)
  return query
}

function readQueryValue(type: string, text: string): unknown {
  if (type === 'integer') return /^(0|[1-9]\d{0,8})$/.test(text) ? Number(text) : text
  if (type === 'boolean') return text === 'true' ? true : text === 'false' ? false : text
  if (type === 'array') return text.split(',')
  return text
}

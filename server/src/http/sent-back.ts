/** What a caller read can be sent back: a change may carry the fields of the record that it cannot change, with their present values. */
import { isDeepStrictEqual } from 'node:util'
import { type Static, type TProperties, type TSchema, Type } from 'typebox'
import { invalidInput } from '../kernel/errors.ts'
import { jsonSchemaOf, textRule } from './schema.ts'

/** `places`: the operation that changes the field instead, by its name. */
type Places = Readonly<Record<string, string>>

function cannotChange(name: string, places: Places): string {
  const place = Object.hasOwn(places, name) ? ` (${places[name]} changes it)` : ''
  return `cannot be changed here${place}: leave it out, or send its present value`
}

/**
 * The body of a change that also takes the other fields of the record, and any present name: an older one may break the rule for
 * names. Its type stays that of the change: `changeIn` checks the other fields and drops them, and checks new names.
 */
export function SentBack<Change extends TSchema>(change: Change, record: TSchema): Change {
  const [own, shown] = [change, record].map((schema) => jsonSchemaOf(schema).properties as unknown as TProperties)
  const others = Object.entries(shown ?? {}).filter(([name]) => own !== undefined && !Object.hasOwn(own, name))
  const readOnly = Object.fromEntries(others.map(([name, schema]) => [name, Type.Optional(ofScalar(schema))]))
  const free = Object.entries(own ?? {}).map(([name, schema]) => [
    name,
    Object.hasOwn(shown ?? {}, name) ? ofAnyText(schema) : schema,
  ])
  const { required } = jsonSchemaOf(change)
  const description = `These fields cannot change, and are taken with their present values: ${Object.keys(readOnly).join(', ')}.`
  return {
    ...change,
    properties: { ...Object.fromEntries(free), ...readOnly },
    ...(required && { required }),
    description,
  }
}

/** Lists and objects are compared, and not checked before: the schema of a whole record would only repeat the reply's. */
function ofScalar(schema: TSchema): TSchema {
  return ['array', 'object'].includes([jsonSchemaOf(schema).type].flat()[0] ?? 'object') ? Type.Unknown() : schema
}

/** A name or a line without its pattern, which `changeIn` checks. */
function ofAnyText(schema: TSchema): TSchema {
  const text = textRule(jsonSchemaOf(schema))
  if (text === undefined) return schema
  const { pattern, description, ...rest } = jsonSchemaOf(schema)
  const about = description === undefined ? text.rule : `${description}; ${text.rule}`
  return Type.Unsafe({ ...rest, description: `${about}; or the present value` })
}

/**
 * The fields of the body that the change may change.
 * @param current the record as `GET` shows it
 * @throws Problem 400 naming each other field whose value is not the present one, and each new name that breaks the rule for
 *   names
 */
export function changeIn<Change extends TSchema>(
  change: Change,
  sent: Static<Change>,
  current: object,
  places: Places = {},
): Static<Change> {
  const own = jsonSchemaOf(change).properties ?? {}
  const fields = Object.entries(sent as object)
  const faults = fields.flatMap(([name, value]) => {
    if (isPresent(value, name, current)) return []
    const why = Object.hasOwn(own, name) ? textFault(own[name] ?? {}, value) : cannotChange(name, places)
    return why === undefined ? [] : [{ pointer: `/${name}`, why }]
  })
  if (faults.length > 0) throw invalidInput(faults)
  return Object.fromEntries(fields.filter(([name]) => Object.hasOwn(own, name))) as Static<Change>
}

/** What is wrong with the value of a name or a line, as a half-sentence. */
function textFault(schema: { pattern?: string }, value: unknown): string | undefined {
  const text = textRule(schema)
  return text === undefined || typeof value !== 'string' || text.keeps(value) ? undefined : text.rule
}

function isPresent(value: unknown, name: string, current: object): boolean {
  return isDeepStrictEqual(value, jsonOf(Object.hasOwn(current, name) ? Reflect.get(current, name) : undefined))
}

/** The value as the caller read it. */
function jsonOf(value: unknown): unknown {
  return value === undefined ? undefined : JSON.parse(JSON.stringify(value))
}

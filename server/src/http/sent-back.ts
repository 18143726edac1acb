/** What a caller read can be sent back: a change may carry the fields of the record that it cannot change, with their present values. */
import { isDeepStrictEqual } from 'node:util'
import { type Static, type TProperties, type TSchema, Type } from 'typebox'
import { type FaultyField, invalidInput } from '../kernel/errors.ts'
import { jsonSchemaOf } from './schema.ts'

/**
 * The body of a change that also takes the other fields of the record. Its type stays that of the change: `changeIn` checks the
 * other fields and drops them.
 */
export function SentBack<Change extends TSchema>(change: Change, record: TSchema): Change {
  const [own, shown] = [change, record].map((schema) => jsonSchemaOf(schema).properties as unknown as TProperties)
  const others = Object.entries(shown ?? {}).filter(([name]) => own !== undefined && !Object.hasOwn(own, name))
  const readOnly = Object.fromEntries(others.map(([name, schema]) => [name, Type.Optional(ofScalar(schema))]))
  const { required } = jsonSchemaOf(change)
  const description = `These fields cannot change, and are taken with their present values: ${Object.keys(readOnly).join(', ')}.`
  return { ...change, properties: { ...own, ...readOnly }, ...(required && { required }), description }
}

/** Lists and objects are compared, and not checked before: the schema of a whole record would only repeat the reply's. */
function ofScalar(schema: TSchema): TSchema {
  return ['array', 'object'].includes([jsonSchemaOf(schema).type].flat()[0] ?? 'object') ? Type.Unknown() : schema
}

/**
 * The fields of the body that the change may change.
 * @param current the record as `GET` shows it
 * @throws Problem 400 naming each other field whose value is not the present one
 */
export function changeIn<Change extends TSchema>(
  change: Change,
  sent: Static<Change>,
  current: object,
): Static<Change> {
  const own = jsonSchemaOf(change).properties ?? {}
  const fields = Object.entries(sent as object)
  const faults = fields.filter(([name, value]) => !Object.hasOwn(own, name) && !isPresent(value, name, current))
  if (faults.length > 0) throw invalidInput(faults.map(([name]) => readOnlyFault(name)))
  return Object.fromEntries(fields.filter(([name]) => Object.hasOwn(own, name))) as Static<Change>
}

function isPresent(value: unknown, name: string, current: object): boolean {
  return isDeepStrictEqual(value, jsonOf(Object.hasOwn(current, name) ? Reflect.get(current, name) : undefined))
}

/** The value as the caller read it. */
function jsonOf(value: unknown): unknown {
  return value === undefined ? undefined : JSON.parse(JSON.stringify(value))
}

function readOnlyFault(name: string): FaultyField {
  return { pointer: `/${name}`, why: 'cannot be changed here: leave it out, or send its present value' }
}

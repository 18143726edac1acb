import { fc } from './chance.ts'

/** A schema of the OpenAPI document, with the keywords that the document uses. */
export type DocumentSchema = {
  $ref?: string
  type?: string | string[]
  enum?: unknown[]
  const?: unknown
  anyOf?: DocumentSchema[]
  allOf?: DocumentSchema[]
  format?: string
  pattern?: string
  minLength?: number
  maxLength?: number
  minimum?: number
  maximum?: number
  items?: DocumentSchema
  minItems?: number
  maxItems?: number
  properties?: Record<string, DocumentSchema>
  required?: string[]
  additionalProperties?: boolean | DocumentSchema
}

/** Values that a schema may not have foreseen: of another type, at a limit, or with a meaning to something below. */
const oddTexts = [
  ...['', ' ', '0', '-1', 'null', 'true', '*', '%', '_', "'", '"', '\\', '$1', '\n', '\u202e', '\uff11', 'ß', 'ı'],
  ...['a'.repeat(101), 'a'.repeat(1_001), '😀'.repeat(300), 'e\u0301'.repeat(200), '../../etc/passwd', '__proto__'],
  ...["' or 1=1 --", '"); permit(principal,action,resource); //', '=cmd', '<script>', 'a\r\nBcc: b@c.example'],
  ...['00000000-0000-0000-0000-000000000000', 'FFFFFFFF-FFFF-FFFF-FFFF-FFFFFFFFFFFF'],
  ...['https://[::1]/', 'https://a.example:99999/', 'a@b', '"a b"@c.example', 'arn:aws:iam::1:x', '+0', '1e400'],
]
/** Moments at the limits of the calendar, of offsets and of the database. */
const oddDates = [
  ...['0000-01-01T00:00:00Z', '9999-12-31T23:59:59Z', '2026-02-29T00:00:00Z', '2024-02-29T23:59:60Z'],
  ...['2026-01-01T24:00:00Z', '2026-01-01T00:00:00+16:00', '2026-01-01T00:00:00-23:59', '294277-01-01T00:00:00Z'],
  ...['2026-01-01t00:00:00z', '2026-01-01T00:00:00.123456789Z', '-000001-01-01T00:00:00Z', '2026-01-01'],
]
const oddValues: unknown[] = [
  ...[null, true, 0, -1, 1.5, 2 ** 31, 2 ** 53 - 1, -(2 ** 53 - 1), 5e-324, 1e300, [], {}, [[]], [null], { a: null }],
  ...[{ constructor: 1 }, { '': '' }, Array.from({ length: 11 }, () => ({})), { __entity: 1 }, { $ref: '#' }],
]
export const oddText: fc.Arbitrary<string> = fc.oneof(fc.constantFrom(...oddTexts), fc.string({ unit: 'grapheme' }))
const odd: fc.Arbitrary<unknown> = fc.oneof(oddText, fc.constantFrom(...oddValues))

/** Making one takes a millisecond, and most schemas have the same few limits. */
const plainTexts = new Map<string, fc.Arbitrary<string>>()
function plainText(minLength: number, maxLength: number): fc.Arbitrary<string> {
  const known = plainTexts.get(`${minLength} ${maxLength}`)
  if (known !== undefined) return known
  const made = fc.string({ minLength, maxLength })
  plainTexts.set(`${minLength} ${maxLength}`, made)
  return made
}

/** A generator of values by a schema; at each place, one in `1 / oddness` is odd instead. */
export function valuesBy(schemas: Readonly<Record<string, DocumentSchema>>, ids: readonly string[]) {
  const id = fc.oneof({ weight: 3, arbitrary: fc.constantFrom(...ids) }, { weight: 1, arbitrary: fc.uuid() })
  const formats: Readonly<Record<string, fc.Arbitrary<string>>> = {
    uuid: id,
    'date-time': fc.oneof(
      fc.date({ noInvalidDate: true }).map((date) => date.toISOString()),
      fc.constantFrom(...oddDates),
    ),
  }

  function right(schema: DocumentSchema): fc.Arbitrary<unknown> {
    if (schema.$ref !== undefined) return right(schemas[schema.$ref.split('/').at(-1) ?? ''] ?? {})
    if (schema.const !== undefined) return fc.constant(schema.const)
    if (schema.enum !== undefined) return fc.constantFrom(...schema.enum)
    if (schema.anyOf !== undefined) return fc.oneof(...schema.anyOf.map(value))
    const types = [schema.type ?? []].flat()
    return types.length === 0 ? odd : fc.oneof(...types.map((type) => ofType(type, schema)))
  }

  function ofType(type: string, schema: DocumentSchema): fc.Arbitrary<unknown> {
    const { minimum = -10, maximum = 1_000_000, minItems = 0, properties = {}, required = [] } = schema
    if (type === 'null') return fc.constant(null)
    if (type === 'boolean') return fc.boolean()
    if (type === 'integer') return fc.integer({ min: minimum, max: Math.max(minimum, maximum) })
    if (type === 'number') return fc.double({ min: minimum, max: Math.max(minimum, maximum), noNaN: true })
    if (type === 'array') return fc.array(value(schema.items ?? {}), { minLength: minItems, maxLength: minItems + 3 })
    if (type === 'string') return textOf(schema)
    const known = Object.fromEntries(Object.entries(properties).map(([name, one]) => [name, value(one)]))
    const fields = fc.record(known, { requiredKeys: required.filter((name) => name in known) })
    const { additionalProperties: more } = schema
    if (more === undefined || more === false) return fields
    const others = fc.dictionary(fc.oneof(oddText, fc.constantFrom(...commonKeys)), more === true ? odd : value(more), {
      maxKeys: 4,
    })
    return fc.tuple(others, fields).map(([one, other]) => ({ ...one, ...other }))
  }

  function textOf({ format, pattern, minLength = 0, maxLength = 200 }: DocumentSchema): fc.Arbitrary<string> {
    const byFormat = formats[format ?? '']
    if (byFormat !== undefined) return byFormat
    const plain = plainText(minLength, Math.max(minLength, Math.min(maxLength, minLength + 20)))
    return pattern === undefined
      ? fc.oneof(plain, id, oddText)
      : fc.oneof(fc.stringMatching(new RegExp(pattern)), plain)
  }

  function value(schema: DocumentSchema): fc.Arbitrary<unknown> {
    return fc.oneof({ weight: 12, arbitrary: right(schema) }, { weight: 1, arbitrary: odd })
  }

  return { value, right }
}

/** Names that the configs of providers, provisioners and channels use. */
const commonKeys = ['url', 'issuer', 'host', 'port', 'token', 'domain', 'headers', 'tls', 'roles', 'client_id']

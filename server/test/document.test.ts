import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { suite, test } from 'node:test'

type Schema = {
  $ref?: string
  type?: string | string[]
  description?: string
  properties?: Record<string, Schema>
  items?: Schema
  anyOf?: Schema[]
  additionalProperties?: boolean | Schema
  [keyword: string]: unknown
}
type Content = { content?: Record<string, { schema: Schema }> }
type Operation = {
  operationId: string
  tags: string[]
  parameters?: { name: string; in: string; schema: Schema }[]
  requestBody?: Content
  responses: Record<string, Content & { $ref?: string }>
}

/** The committed document; what else holds for it is in reference.test.ts. `npm run test:clients` makes clients of it. */
const document = JSON.parse(readFileSync(new URL('../openapi.json', import.meta.url), 'utf8')) as {
  tags: { name: string; description: string }[]
  paths: Record<string, Record<string, Operation>>
  components: { schemas: Record<string, Schema>; responses: Record<string, unknown> }
}
const operations = Object.values(document.paths).flatMap((methods) => Object.values(methods))

suite('the document, for generators of clients', () => {
  test('declares each tag once, with what it is about, and no other', () => {
    const declared = document.tags.map(({ name }) => name)
    assert.deepEqual(declared.toSorted(), [...new Set(operations.flatMap(({ tags }) => tags))].sort())
    assert.ok(document.tags.every(({ description }) => description.length > 0))
  })

  test('shares every answer that is an error', () => {
    for (const { operationId, responses } of operations) {
      const errors = Object.entries(responses).filter(([status]) => status >= '4')
      for (const [status, { $ref = '' }] of errors)
        assert.match($ref, /^#\/components\/responses\/\w+$/, `${operationId} ${status}`)
    }
  })

  test('names a shared answer and a schema differently: Go has one space of names', () => {
    const schemas = new Set(Object.keys(document.components.schemas).map((name) => name.toLowerCase()))
    assert.deepEqual(
      Object.keys(document.components.responses).filter((name) => schemas.has(name.toLowerCase())),
      [],
    )
  })

  test('has one type of content for each body and each answer, or JSON first: some generators read only that', () => {
    for (const { operationId, requestBody, responses } of operations) {
      assert.ok(Object.keys(requestBody?.content ?? {}).length <= 1, operationId)
      for (const { content = {} } of Object.values(responses)) {
        const types = Object.keys(content)
        assert.ok(types.length <= 1 || types[0] === 'application/json', operationId)
      }
    }
  })
})

test('no header has a format: clients in Python send its value as an object', () => {
  for (const { operationId, parameters = [] } of operations) {
    const headers = parameters.filter((one) => one.in === 'header')
    assert.ok(
      headers.every(({ schema }) => schema.format === undefined && schema.type === 'string'),
      operationId,
    )
  }
})

/** Inputs without a limit of their own in the document, each with the reason. */
const unlimited: Readonly<Record<string, string>> = {
  cursor: 'opaque: a text that the service did not make is refused',
  'If-Match': 'any number of tags; the headers have a limit together',
  'Last-Event-ID': 'opaque',
  provider: 'another text is a 404',
  role_id: 'another text is a 404',
  source: 'another text matches nothing',
  'importPolicy/cedar': 'as long as a body may be',
  'updateOwnProfile/first_name': 'the limit counts after NFC, and is told in words',
  'updateOwnProfile/last_name': 'the limit counts after NFC, and is told in words',
  'updateOwnProfile/display_name': 'the limit counts after NFC, and is told in words',
}

const bounds: Readonly<Record<string, readonly (readonly string[])[]>> = {
  string: [['maxLength', 'enum', 'const', 'format', 'pattern']],
  integer: [
    ['minimum', 'exclusiveMinimum'],
    ['maximum', 'exclusiveMaximum'],
  ],
  number: [
    ['minimum', 'exclusiveMinimum'],
    ['maximum', 'exclusiveMaximum'],
  ],
  array: [['maxItems']],
}

/** The fields that a change takes with their present values only: `SentBack`. */
const presentValues = /^These fields cannot change, and are taken with their present values: (.*)\.$/

/** The places of an input that have no limit. */
function limitless(sent: Schema, place: string): string[] {
  const schema = sent.$ref === undefined ? sent : (document.components.schemas[sent.$ref.split('/').at(-1) ?? ''] ?? {})
  const needed = [schema.type ?? []].flat().flatMap((type) => bounds[type] ?? [])
  const has = needed.every((keywords) => keywords.some((keyword) => Object.hasOwn(schema, keyword)))
  const [, present = ''] = presentValues.exec(schema.description ?? '') ?? []
  const inner = Object.entries(schema.properties ?? {}).filter(([name]) => !present.split(', ').includes(name))
  const { items, anyOf = [], additionalProperties } = schema
  return [
    ...(has ? [] : [place]),
    ...inner.flatMap(([name, one]) => limitless(one, `${place}/${name}`)),
    ...(items === undefined ? [] : limitless(items, `${place}/0`)),
    ...(typeof additionalProperties === 'object' ? limitless(additionalProperties, `${place}/*`) : []),
    ...anyOf.flatMap((one) => limitless(one, place)),
  ]
}

test('every text, number and list of an input has its limit in the document, or a reason here', () => {
  const found = operations.flatMap(({ operationId, parameters = [], requestBody }) => [
    ...parameters.flatMap(({ name, schema }) => limitless(schema, name)),
    ...Object.values(requestBody?.content ?? {}).flatMap(({ schema }) => limitless(schema, operationId)),
  ])
  assert.deepEqual([...new Set(found)].sort(), Object.keys(unlimited).sort())
})

import assert from 'node:assert/strict'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { Validator } from '@seriousme/openapi-schema-validator'
import { Ajv2020 } from 'ajv/dist/2020.js'
import { describeApi } from '../src/http/openapi.ts'
import { operations } from '../src/operations.ts'
import { findStale } from './support/generated-files.ts'

type Json = { [name: string]: unknown }

/** The committed document; `npm run check` verifies that it is current. */
const document = JSON.parse(readFileSync(new URL('../openapi.json', import.meta.url), 'utf8')) as Json & {
  paths: Record<string, Record<string, Json & { operationId: string }>>
  components: { schemas: Record<string, Json>; responses: Record<string, Json> }
}

test('the document is OpenAPI 3.1, and every reference in it leads somewhere', async () => {
  const validator = new Validator()
  assert.deepEqual(await validator.validate(structuredClone(document)), { valid: true })
  assert.equal(validator.version, '3.1')
})

test('every schema in the document is JSON Schema of 2020-12', () => {
  // OpenAPI's own schema accepts any object as a schema.
  // Many parameters and replies have the same one.
  const schemas = new Set(Array.from(schemasWithin(document), (schema) => JSON.stringify(schema)))
  assert.ok(schemas.size > 100, `found only ${schemas.size}`)
  const ajv = new Ajv2020({ strictSchema: true, strictTypes: false, validateFormats: false })
  ajv.addKeyword('components')
  ajv.addSchema({ $id: 'https://sallyport/document', components: document.components }, undefined, undefined, false)
  for (const schema of schemas) {
    const absolute = schema.replaceAll('"#/', '"https://sallyport/document#/')
    assert.doesNotThrow(() => ajv.compile(JSON.parse(absolute)), schema)
  }
})

test('the document has every operation once, under its own name, and the health endpoints', () => {
  const described = Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, { operationId }]) => `${operationId}: ${method.toUpperCase()} ${path}`),
  )
  const declared = Object.entries(operations).map(([name, { method, path }]) => `${name}: ${method} ${path}`)
  const health = ['getLiveness: GET /livez', 'getReadiness: GET /readyz']
  assert.deepEqual(described.sort(), [...declared, ...health].sort())
})

test('a name of a schema or an answer means the same one in every operation', () => {
  for (const [name, operation] of Object.entries(operations)) {
    const { components } = describeApi({ [name]: operation }, '') as typeof document
    for (const kind of ['schemas', 'responses'] as const) {
      for (const [title, one] of Object.entries(components[kind])) {
        assert.deepEqual(one, document.components[kind][title], `\`${title}\` in ${name}`)
      }
    }
  }
})

test('no two schemas get one name from a generator of clients', () => {
  const components = Object.entries(document.components.schemas)
  const named = components.map(([name, schema]) => ({ name, place: name, schema }))
  const unnamed = [
    ...components.flatMap(([name, schema]) => derivedFrom(schema, name)),
    ...Object.values(document.paths)
      .flatMap((methods) => Object.values(methods))
      .flatMap((operation) =>
        [...operationsSchemas(operation)].flatMap(([name, schema]) => derivedWithin(schema, name)),
      ),
  ]
  assert.ok(unnamed.length > 300, `found only ${unnamed.length} derived names`)
  const byName = Map.groupBy([...named, ...unnamed], ({ name }) => name.toLowerCase())
  const clashes = [...byName.values()].filter((places) => places.length > 1)
  assert.deepEqual(
    clashes.map((places) => places.map(({ name, place }) => `${name} of ${place}`)),
    [],
  )
})

test('a path leads to each component: a generator leaves out one that only a message uses', () => {
  const { schemas, responses } = document.components
  const components = Object.entries({ schemas, responses }).flatMap(([kind, named]) =>
    Object.entries(named).map(([name, component]) => [`#/components/${kind}/${name}`, component] as const),
  )
  const byPath = new Map<string, Json>(components)
  const used = (node: unknown) => [...JSON.stringify(node).matchAll(/#\/components\/\w+\/\w+/g)].map(([path]) => path)
  const reached = new Set<string>()
  const waiting = used(document.paths)
  for (const path of waiting) {
    if (reached.has(path)) continue
    reached.add(path)
    waiting.push(...used(byPath.get(path) ?? {}))
  }
  assert.deepEqual(
    [...byPath.keys()].filter((path) => !reached.has(path)),
    [],
  )
})

test('finds a generated file that is missing or outdated, and no other', (t) => {
  const root = mkdtempSync(join(tmpdir(), 'sallyport-stale-'))
  t.after(() => rmSync(root, { recursive: true }))
  writeFileSync(join(root, 'fresh.md'), 'as the source says\n')
  writeFileSync(join(root, 'edited.md'), 'as somebody typed\n')
  const source = { 'fresh.md': 'as the source says\n', 'edited.md': 'as the source says\n', 'missing.md': '' }
  assert.deepEqual(findStale(root, source), ['edited.md', 'missing.md'])
})

type Derived = { name: string; place: string }

function inPascalCase(text: string): string {
  return text.replaceAll(/(?:^|[^A-Za-z0-9]+)([A-Za-z0-9])/g, (_all, letter: string) => letter.toUpperCase())
}

/** The names that generators make for the enums and objects inside a schema: the parent's and the property's. */
function derivedFrom(schema: Json, parent: string, place = parent): Derived[] {
  const { properties = {}, items, oneOf = [], anyOf = [], allOf = [] } = schema as { [keyword: string]: never }
  return [
    ...Object.entries(properties as Json).flatMap(([name, inner]) =>
      derivedWithin(inner as Json, parent + inPascalCase(name), `${place}/${name}`),
    ),
    ...(items === undefined ? [] : derivedWithin(items, parent, `${place}/0`)),
    ...[oneOf, anyOf, allOf].flat().flatMap((inner: Json) => derivedFrom(inner, parent, place)),
  ]
}

/** The same, and the schema's own name, unless it is a component or needs none. */
function derivedWithin(schema: Json, name: string, place = name): Derived[] {
  if ('$ref' in schema) return []
  const needsOne = 'enum' in schema || 'properties' in schema || 'additionalProperties' in schema
  return [...(needsOne ? [{ name, place }] : []), ...derivedFrom(schema, name, place)]
}

/** What generators name after an operation: its parameters, body and reply. */
function* operationsSchemas(operation: Json & { operationId: string }): Generator<[name: string, schema: Json]> {
  const {
    parameters = [],
    requestBody = {},
    responses,
  } = operation as never as {
    parameters?: { name: string; schema: Json }[]
    requestBody?: { content?: Record<string, { schema: Json }> }
    responses: Record<string, { content?: Record<string, { schema: Json }> }>
  }
  const name = inPascalCase(operation.operationId)
  for (const one of parameters) yield [`${name}${inPascalCase(one.name)}`, one.schema]
  const body = requestBody.content?.['application/json']
  if (body !== undefined) yield [`${name}Body`, body.schema]
  for (const [status, { content }] of Object.entries(responses)) {
    const reply = content?.['application/json']
    if (reply !== undefined && status.startsWith('2')) yield [`${name}Response${status}`, reply.schema]
  }
}

/** Each schema of a parameter, a body, a reply or a component. */
function* schemasWithin(node: unknown): Generator<Json> {
  if (typeof node !== 'object' || node === null) return
  for (const [name, child] of Object.entries(node)) {
    if (name === 'schema') yield child as Json
    else if (name === 'schemas') yield* Object.values(child as Record<string, Json>)
    else yield* schemasWithin(child)
  }
}

import assert from 'node:assert/strict'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { Validator } from '@seriousme/openapi-schema-validator'
import { Ajv2020 } from 'ajv/dist/2020.js'
import { operations } from '../src/app.ts'
import { describeApi } from '../src/http/openapi.ts'
import { findStale } from './support/generated-files.ts'

type Json = { [name: string]: unknown }

/** The committed document; `npm run check` verifies that it is current. */
const document = JSON.parse(readFileSync(new URL('../openapi.json', import.meta.url), 'utf8')) as Json & {
  paths: Record<string, Record<string, Json & { operationId: string }>>
  components: { schemas: Record<string, Json> }
}

test('the document is OpenAPI 3.1, and every reference in it leads somewhere', async () => {
  const validator = new Validator()
  assert.deepEqual(await validator.validate(structuredClone(document)), { valid: true })
  assert.equal(validator.version, '3.1')
})

test('every schema in the document is JSON Schema of 2020-12', () => {
  // OpenAPI's own schema accepts any object as a schema.
  const schemas = [...schemasWithin(document)]
  assert.ok(schemas.length > 100, `found only ${schemas.length}`)
  const ajv = new Ajv2020({ strictSchema: true, strictTypes: false, validateFormats: false })
  ajv.addKeyword('components')
  ajv.addSchema({ $id: 'https://sallyport/document', components: document.components }, undefined, undefined, false)
  for (const schema of schemas) {
    const absolute = JSON.stringify(schema).replaceAll('"#/', '"https://sallyport/document#/')
    assert.doesNotThrow(() => ajv.compile(JSON.parse(absolute)), JSON.stringify(schema))
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

test('a schema’s name means the same schema in every operation', () => {
  for (const [name, operation] of Object.entries(operations)) {
    const { components } = describeApi({ [name]: operation }, '') as typeof document
    for (const [title, schema] of Object.entries(components.schemas)) {
      assert.deepEqual(schema, document.components.schemas[title], `\`${title}\` in ${name}`)
    }
  }
})

test('finds a generated file that is missing or outdated, and no other', (t) => {
  const root = mkdtempSync(join(tmpdir(), 'sallyport-stale-'))
  t.after(() => rmSync(root, { recursive: true }))
  writeFileSync(join(root, 'fresh.md'), 'as the source says\n')
  writeFileSync(join(root, 'edited.md'), 'as somebody typed\n')
  const source = { 'fresh.md': 'as the source says\n', 'edited.md': 'as the source says\n', 'missing.md': '' }
  assert.deepEqual(findStale(root, source), ['edited.md', 'missing.md'])
})

/** Each schema of a parameter, a body, a reply or a component. */
function* schemasWithin(node: unknown): Generator<Json> {
  if (typeof node !== 'object' || node === null) return
  for (const [name, child] of Object.entries(node)) {
    if (name === 'schema') yield child as Json
    else if (name === 'schemas') yield* Object.values(child as Record<string, Json>)
    else yield* schemasWithin(child)
  }
}

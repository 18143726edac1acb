import assert from 'node:assert/strict'
import { test } from 'node:test'
import { jsonSchemaOf } from '../src/http/schema.ts'
import { operations } from './support/house.ts'
import { sampleBodies } from './support/sample-bodies.ts'
import { addressed } from './support/samples.ts'
import { openStage } from './support/stage.ts'

/** What GET shows of a record can be sent back by its PATCH or PUT. */
const { house, ours, ourRecords: records } = await openStage()
const { tenant_id, owner } = ours

const call = (method: string, url: string, body?: unknown) =>
  house.call({ method, url, token: owner.token, tenant_id, ...(body !== undefined && { body }) })

/** Another value of the same kind. */
function otherThan(value: unknown): unknown {
  if (typeof value === 'string') return value === '2020-01-01T00:00:00.000Z' ? `${value}x` : '2020-01-01T00:00:00.000Z'
  if (typeof value === 'number') return value + 1
  if (typeof value === 'boolean') return !value
  return Array.isArray(value) ? [...value, value[0] ?? 'x'] : value === null ? 'x' : { ...(value as object), x: 1 }
}

for (const [name, operation] of Object.entries(operations)) {
  const { method, path } = operation
  const reader = Object.values(operations).find((one) => one.method === 'GET' && one.path === path && one.etag)
  if ((method !== 'PATCH' && method !== 'PUT') || reader === undefined) continue

  test(`${name} takes the record as it was read, and no other value of a field that it cannot change (P11)`, async () => {
    const url = addressed(path, records)
    const made = await call(method, url, sampleBodies[name])
    assert.equal(made.status, 200, made.text)
    const { body: read } = await call('GET', url)
    const again = await call(method, url, read)
    assert.equal(again.status, 200, again.text)
    const { body: now } = await call('GET', url)
    const { updated_at, ...same } = read
    assert.deepEqual({ ...now, updated_at }, { ...same, updated_at })

    const properties = Object.keys(jsonSchemaOf(operation.body ?? {}).properties ?? {})
    const readOnly = new Set(readOnlyOf(operation.body))
    for (const field of Object.keys(now)) {
      assert.ok(properties.includes(field), `the body must name \`${field}\``)
      if (!readOnly.has(field)) continue
      const { status, body } = await call(method, url, { ...now, [field]: otherThan(now[field]) })
      assert.deepEqual([status, body.code], [400, 'invalid_input'], field)
      const { fields } = body.details as { fields: { pointer: string }[] }
      assert.ok(fields[0]?.pointer.startsWith(`/${field}`), `${fields[0]?.pointer} is not \`${field}\``)
    }
    assert.deepEqual((await call('GET', url)).body, now)
  })
}

/** The fields that the description of the body lists. */
function readOnlyOf(schema: object | undefined): string[] {
  const { description = '' } = schema === undefined ? {} : jsonSchemaOf(schema)
  return /present values: (.*)\.$/.exec(description)?.[1]?.split(', ') ?? []
}

test('a field that another operation changes is refused with that operation', async () => {
  const { status, body } = await call('PATCH', addressed('/v1/users/{id}', records), { roles: ['auditor'] })
  assert.equal(status, 400)
  assert.match(
    `${body.message}`,
    /^`\/roles` cannot be changed here \(PUT \/v1\/users\/\{id\}\/roles changes it\): leave/,
  )
})

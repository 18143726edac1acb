import assert from 'node:assert/strict'
import { test } from 'node:test'
import { describeApi } from '../../src/http/openapi.ts'
import { fc } from '../support/chance.ts'
import { type DocumentSchema, oddText, valuesBy } from '../support/document-values.ts'
import { operations } from '../support/house.ts'
import { inTurns } from '../support/in-turns.ts'
import { fromOwnPage } from '../support/presented.ts'
import { rounds } from '../support/race.ts'
import { sampleBodies } from '../support/sample-bodies.ts'
import { addressed } from '../support/samples.ts'
import { openStage } from '../support/stage.ts'

/**
 * Calls every operation with requests generated from the API document: paths, queries, headers and bodies that are right but
 * for a few odd values. No answer is a 5xx, and each is as the document describes it.
 */
const { house, ours, ourRecords, theirRecords } = await openStage()
const { tenant_id, owner } = ours

type Parameter = { name: string; in: 'path' | 'query' | 'header'; required: boolean; schema: DocumentSchema }
type Described = {
  operationId: string
  parameters: Parameter[]
  requestBody?: { content: Record<string, { schema: DocumentSchema }> }
}
const { paths, components } = describeApi(operations, '') as {
  paths: Record<string, Record<string, Described>>
  components: { schemas: Record<string, DocumentSchema> }
}

const isUuid = (text: string) => /^[0-9a-f-]{36}$/.test(text)
const ids = [ourRecords, theirRecords]
  .flatMap((records) => Object.values(records).flatMap((one) => Object.values(one)))
  .filter((id) => isUuid(id) && id !== owner.user_id)
const { value, right } = valuesBy(components.schemas, ids)

/** What a request consists of, besides its method. */
type Asked = { url: string; headers: Record<string, string>; body: unknown }

function requestsOf(path: string, { operationId, parameters, requestBody }: Described): fc.Arbitrary<Asked> {
  const known = addressed(path, ourRecords)
  const parts = path.match(/\{\w+\}/g) ?? []
  const otherUrl = fc
    .tuple(...parts.map(() => fc.oneof(fc.constantFrom(...ids), oddText)))
    .map((texts) => parts.reduce((url, part, index) => url.replace(part, encodeURIComponent(texts[index] ?? '')), path))
  const url = parts.length === 0 ? fc.constant(path) : fc.oneof({ weight: 3, arbitrary: fc.constant(known) }, otherUrl)
  const among = (place: Parameter['in']) =>
    fc.record(
      Object.fromEntries(parameters.filter((one) => one.in === place).map(({ name, schema }) => [name, value(schema)])),
      { requiredKeys: [] },
    )
  const sample = sampleBodies[operationId] as object | undefined
  // JSON or a form; plain text is one field of the JSON.
  const [{ schema } = {}] = Object.values(requestBody?.content ?? {})
  const generated = schema === undefined ? fc.constant(undefined) : fc.oneof(right(schema), value(schema))
  const body = fc.tuple(generated, fc.nat({ max: 4 })).map(([made, howMany]) => {
    if (sample === undefined || typeof made !== 'object' || made === null || howMany === 4) return made
    return { ...sample, ...Object.fromEntries(Object.entries(made).slice(0, howMany)) }
  })
  return fc.record({ url, query: among('query'), sent: among('header'), body }).map(({ url, query, sent, body }) => {
    const search = new URLSearchParams(
      Object.entries(query).map(([name, one]): [string, string] => [name, textOf(one)]),
    )
    // Node refuses to send other characters in a header.
    const headers = Object.entries(sent).map(([name, one]) => [name, textOf(one).replace(/[^\x20-\x7e]/g, '')])
    return { url: `${url}?${search}`, headers: Object.fromEntries(headers), body }
  })
}

const textOf = (one: unknown) => (typeof one === 'string' ? one.toWellFormed() : JSON.stringify(one))

/** Credentials and the tenant are headers of the document too, but here they are always right. */
const ownHeaders = ['authorization', 'x-api-key', 'x-tenant-id']

const described = Object.entries(paths)
  .flatMap(([path, methods]) => Object.entries(methods).map(([method, one]) => ({ path, method, one })))
  .filter(({ one }) => one.operationId in operations)
  // What takes something away comes last, so that the others find it.
  .sort((a, b) => Number(a.method === 'delete') - Number(b.method === 'delete'))

/** In a usual run a request is sent with one of them, and the next with the other. */
const someCredentials = inTurns(['token', 'api_key'] as const, 1)

for (const { path, method, one } of described) {
  test(`${one.operationId} answers no generated request with 5xx (I6, I7)`, async () => {
    const parameters = one.parameters.filter(({ name }) => !ownHeaders.includes(name.toLowerCase()))
    const requests = requestsOf(path, { ...one, parameters })
    const tried = fc.asyncProperty(requests, async ({ url, headers, body }) => {
      // Some calls end the session of their token, or all others, so each has a new one.
      const { token } = await house.signInAgain(tenant_id, owner)
      for (const kind of someCredentials()) {
        const credential = kind === 'token' ? { token } : { api_key: owner.api_key }
        const call = { method: method.toUpperCase(), url, body, tenant_id, ...credential }
        const reply = await house.call({ ...call, headers: { ...headers, ...fromOwnPage } })
        assert.ok(reply.status < 500, `${method} ${url} ${JSON.stringify(body)}: ${reply.text}`)
      }
    })
    await fc.assert(tried, { numRuns: rounds(2).length })
  })
}

test('both credentials are valid to the end', async () => {
  const { token } = await house.signInAgain(tenant_id, owner)
  for (const credential of [{ token }, { api_key: owner.api_key }]) {
    const { status, text } = await house.call({ method: 'GET', url: '/v1/permissions', tenant_id, ...credential })
    assert.equal(status, 200, text)
  }
})

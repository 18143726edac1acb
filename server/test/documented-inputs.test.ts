import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { DocumentedKeywords } from '../src/http/schema.ts'
import { jsonSchemaOf } from '../src/http/schema.ts'
import { bodyWith, fieldsOf, pointerOf } from './support/body-fields.ts'
import { requireRefused, senderTo } from './support/body-sender.ts'
import { operations } from './support/house.ts'
import { sampleBodies } from './support/sample-bodies.ts'
import { addressed } from './support/samples.ts'
import { openStage } from './support/stage.ts'

/** What only the document says of an input, `Documented`, is true: a value that breaks it is refused. */
const { house, ours, ourRecords: records } = await openStage()
const address = await house.app.server.listen({ host: '127.0.0.1', port: 0 })
const { tenant_id, owner } = ours

/** A text of so many characters that is right but for its length, where letters alone are not. */
const longTexts: Readonly<Record<string, (length: number) => string>> = {
  '/locale': (length) => `en-x-${'aaaaaaaa-'.repeat(length)}`.slice(0, length - 1).replace(/-?$/, 'a'),
}

/** For each keyword, a value that breaks it. */
const breaking: {
  [Keyword in keyof DocumentedKeywords]-?: (limit: never, sample: unknown, pointer: string) => unknown
} = {
  maxLength: (limit: number, _sample, pointer) => longTexts[pointer]?.(limit + 1) ?? 'x'.repeat(limit + 1),
  pattern: () => '\u00a1',
  enum: () => 'no such word',
  maximum: (limit: number) => limit + 1,
  uniqueItems: (_limit: true, sample) => (Array.isArray(sample) ? [...sample, ...sample] : []),
  maxProperties: (limit: number) => Object.fromEntries(Array.from({ length: limit + 1 }, (_, n) => [`x-${n}`, 'x'])),
}

function brokenBy(documented: DocumentedKeywords, sample: unknown, pointer = ''): [keyword: string, value: unknown][] {
  return Object.entries(documented).map(([keyword, limit]) => {
    return [keyword, breaking[keyword as keyof DocumentedKeywords](limit as never, sample, pointer)]
  })
}

let tried = 0
for (const [name, { method, path, credential, params, query, body }] of Object.entries(operations)) {
  const headers = {
    'content-type': 'application/json',
    ...(credential !== 'none' && { 'x-tenant-id': tenant_id }),
    ...(credential === 'user' && { authorization: `Bearer ${owner.token}` }),
    ...(credential === 'any' && { 'x-api-key': owner.api_key }),
  }
  const sample = (sampleBodies[name] ?? {}) as Record<string, unknown>
  const url = address + addressed(path, records)

  for (const { path: place, schema } of body === undefined ? [] : fieldsOf(body)) {
    for (const [keyword, value] of brokenBy(
      jsonSchemaOf(schema).documented ?? {},
      sample[String(place[0])],
      pointerOf(place),
    )) {
      test(`${name} refuses what breaks \`${keyword}\` at ${pointerOf(place)}`, async () => {
        const send = senderTo(url, method, headers)
        const answer = await send(bodyWith(sample, place, JSON.stringify(value)))
        requireRefused(answer, keyword === 'uniqueItems' ? `${pointerOf(place)}/1` : pointerOf(place), keyword)
      })
      tried += 1
    }
  }

  const inUrl = { ...jsonSchemaOf(params ?? {}).properties, ...jsonSchemaOf(query ?? {}).properties }
  for (const [parameter, { documented = {} }] of Object.entries(inUrl)) {
    for (const [keyword, value] of brokenBy(documented, undefined)) {
      test(`${name} refuses what breaks \`${keyword}\` as \`${parameter}\``, async () => {
        const text = encodeURIComponent(String(value))
        const isInPath = path.includes(`{${parameter}}`)
        const broken = isInPath
          ? address + addressed(path.replace(`{${parameter}}`, text), records)
          : `${url}?${parameter}=${text}`
        const sent = method === 'GET' ? {} : { body: JSON.stringify(sample) }
        const reply = await fetch(broken, { method, headers, ...sent })
        const { code, details } = (await reply.json()) as { code: string; details: { fields: { pointer: string }[] } }
        assert.deepEqual([reply.status, code], [400, 'invalid_input'])
        assert.match(details.fields[0]?.pointer ?? '', new RegExp(`^/?${parameter}$`))
      })
      tried += 1
    }
  }
}

test('the documented inputs are found', () => assert.ok(tried > 30, `${tried} are tried`))

import assert from 'node:assert/strict'
import { monitorEventLoopDelay } from 'node:perf_hooks'
import { test } from 'node:test'
import { jsonSchemaOf } from '../src/http/schema.ts'
import { type BodyField, bodyWith, fieldsOf, isFree, pointerOf } from './support/body-fields.ts'
import { bomb, cunningTexts, requireRefused, senderTo } from './support/body-sender.ts'
import { operations } from './support/house.ts'
import { inTurns } from './support/in-turns.ts'
import { oddDates } from './support/odd-dates.ts'
import { placesOnce } from './support/places-once.ts'
import { sampleBodies } from './support/sample-bodies.ts'
import { addressed } from './support/samples.ts'
import { openStage } from './support/stage.ts'

/** Tries every operation that takes a body with invalid content in every place of it, over HTTP. */
const { house, ours, ourRecords: records } = await openStage()
const address = await house.app.server.listen({ host: '127.0.0.1', port: 0 })
const { tenant_id, owner } = ours

const isWalked = placesOnce()
const taking = Object.entries(operations).flatMap(([name, { method, path, credential, body, bodyText, bodyType }]) => {
  // hostile-forms.test.ts has those that take a form.
  if (body === undefined || bodyType === 'form') return []
  const headers = {
    'content-type': 'application/json',
    ...(credential !== 'none' && { 'x-tenant-id': tenant_id }),
    ...(credential === 'user' && { authorization: `Bearer ${owner.token}` }),
    ...(credential === 'any' && { 'x-api-key': owner.api_key }),
  }
  const send = senderTo(address + addressed(path, records), method, headers)
  const fields = fieldsOf(body).filter(({ path }) => isWalked(name, path))
  return [{ name, send, sample: sampleBodies[name] ?? {}, fields, takesText: bodyText !== undefined }]
})

/** In a usual run each place is tried with some of them. */
const someBroken = inTurns(['"a\\u0000b"', '"\\ud83d"', '"\\udc00\\ud83d"'], 1)
const someDates = inTurns(oddDates, 2)
const someNumbers = inTurns(['1e400', '9007199254740993', '0.1000000000000000000001'], 1)

const isText = ({ kinds, words }: BodyField) => kinds.includes('string') && !words
const isNumber = ({ kinds }: BodyField) => kinds.includes('integer') || kinds.includes('number')

for (const { name, send, sample, fields, takesText } of taking) {
  const free = fields.filter(isFree)
  const objects = fields.filter(({ kinds }) => kinds.includes('object'))

  test(`${name} refuses NUL and half a character in all of its texts (I3)`, async () => {
    for (const { path } of fields.filter(({ kinds }) => kinds.includes('string'))) {
      for (const text of someBroken()) {
        requireRefused(await send(bodyWith(sample, path, text)), pointerOf(path), `${text} at ${pointerOf(path)}`)
      }
    }
    for (const { path } of free) {
      const pointer = pointerOf(path)
      requireRefused(await send(bodyWith(sample, path, '{"a":["\\u0000"]}')), `${pointer}/a/0`, 'NUL inside')
      requireRefused(await send(bodyWith(sample, path, '{"\\u0000":1}')), pointer, 'NUL in a key')
    }
  })

  const dates = fields.filter(({ schema }) => jsonSchemaOf(schema).format === 'date-time')
  if (dates.length > 0) {
    test(`${name} refuses dates that the database would refuse (I3)`, async () => {
      for (const { path } of dates) {
        for (const date of someDates()) {
          requireRefused(await send(bodyWith(sample, path, JSON.stringify(date))), pointerOf(path), date)
        }
      }
    })
  }

  test(`${name} refuses keys that name a prototype (I4)`, async () => {
    for (const { path } of objects) {
      const pointer = pointerOf(path)
      const evil = bodyWith(sample, [...path, '@evil@'], '{"polluted":true}')
      requireRefused(await send(evil.replace('@evil@', '__proto__')), `${pointer}/__proto__`, '__proto__')
      const asData = await send(evil.replace('@evil@', 'constructor').replace('"polluted"', '"prototype"'))
      assert.ok(asData.status < 500, asData.text)
    }
    assert.equal(Reflect.get({}, 'polluted'), undefined)
    assert.deepEqual([Object.keys(Object.prototype), Reflect.get(Object, 'prototype') === Object.prototype], [[], true])
  })

  test(`${name} refuses a repeated key and a number that would change (I5)`, async () => {
    for (const { path } of fields.filter((field) => typeof field.path.at(-1) === 'string')) {
      const key = JSON.stringify(path.at(-1))
      const twice = bodyWith(sample, path, `null,${key}:null`)
      requireRefused(await send(twice), pointerOf(path), `${key} twice`)
    }
    for (const { path } of [...fields.filter(isNumber), ...free.map((field) => ({ path: [...field.path, 'n'] }))]) {
      for (const number of someNumbers()) {
        requireRefused(await send(bodyWith(sample, path, number)), pointerOf(path), number)
      }
    }
  })

  test(`${name} refuses deep nesting and other encodings, and decompresses nothing (I6)`, async () => {
    const deep = (levels: number) => `${'{"a":'.repeat(levels)}1${'}'.repeat(levels)}`
    for (const levels of [33, 20_000]) requireRefused(await send(deep(levels)), '/a'.repeat(32), `${levels} levels`)
    for (const { path } of free) {
      const { status, code } = await send(bodyWith(sample, path, deep(33)))
      assert.deepEqual([status, code], [400, 'invalid_input'])
    }
    const plain = JSON.stringify(sample)
    requireRefused(await send(`\ufeff${plain}`), '', 'a byte order mark')
    requireRefused(await send(new Uint8Array([0x7b, 0xff, 0x7d])), '', 'what is no UTF-8')
    const types = [
      takesText ? 'text/html' : 'text/plain',
      'application/json; charset=utf-16',
      'application/x-www-form-urlencoded',
      'application/json5',
    ]
    const refused = [
      ...(await Promise.all(types.map((type) => send(plain, { 'content-type': type })))),
      await send(bomb, { 'content-encoding': 'gzip' }),
      await send(bomb, { 'content-encoding': 'br' }),
    ]
    for (const { status, code } of refused) assert.deepEqual([status, code], [415, 'unsupported_media_type'])
  })
}

/**
 * Measures no time per expression: trying each letter in place of every other would take minutes, and the call times out long
 * before. The maximum time for which the service was blocked is reported at the end.
 */
const someTexts = inTurns(cunningTexts, 1)
for (const { name, send, sample, fields } of taking) {
  test(`${name} answers soon whatever its texts contain (I12)`, async (t) => {
    const delay = monitorEventLoopDelay({ resolution: 5 })
    delay.enable()
    for (const { path } of fields.filter(isText)) {
      for (const [what, text] of someTexts()) {
        const answer = await send(bodyWith(sample, path, JSON.stringify(text)))
        assert.ok(answer.status < 500, `${what} at ${pointerOf(path)}: ${answer.text}`)
      }
    }
    t.diagnostic(`held up for at most ${Math.round(delay.max / 1e6)} ms`)
  })
}

test('every list in a body has a maximum length (I2)', () => {
  const unbounded = taking.flatMap(({ name, fields }) =>
    fields
      .filter(({ kinds, schema }) => kinds.includes('array') && !('maxItems' in schema))
      .map(({ path }) => `${name} ${pointerOf(path)}`),
  )
  assert.deepEqual(unbounded, [])
})

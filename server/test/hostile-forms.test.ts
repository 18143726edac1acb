import assert from 'node:assert/strict'
import { monitorEventLoopDelay } from 'node:perf_hooks'
import { test } from 'node:test'
import { fieldsOf } from './support/body-fields.ts'
import { bomb, cunningTexts, requireRefused, senderTo } from './support/body-sender.ts'
import { formOf, formType } from './support/form.ts'
import { operations } from './support/house.ts'
import { sampleBodies } from './support/sample-bodies.ts'
import { addressed } from './support/samples.ts'
import { openStage } from './support/stage.ts'

/** Tries every operation that takes a form with invalid content in every field of it, over HTTP. hostile-bodies.test.ts has JSON. */
const { house, ourRecords: records } = await openStage()
const address = await house.app.server.listen({ host: '127.0.0.1', port: 0 })

const taking = Object.entries(operations).flatMap(([name, { method, path, credential, body, bodyType }]) => {
  if (body === undefined || bodyType !== 'form') return []
  assert.equal(credential, 'none', `send the credential of ${name} here`)
  const send = senderTo(address + addressed(path, records), method, { 'content-type': formType })
  const sample = sampleBodies[name] as Record<string, string>
  const texts = fieldsOf(body).flatMap(({ path: [field, ...deeper] }) =>
    field === undefined ? [] : [{ field, deeper }],
  )
  assert.ok(
    texts.every(({ deeper }) => deeper.length === 0),
    `a form of ${name} can hold no more than texts`,
  )
  return [{ name, send, sample, fields: texts.map(({ field }) => String(field)) }]
})

test('the operations take forms', () => assert.ok(taking.length > 0))

const bytes = (...parts: (string | number[])[]) =>
  new Uint8Array(Buffer.concat(parts.map((part) => Buffer.from(part as string))))

/** The form with this raw text in place of the field’s value. */
const formWith = (sample: Record<string, string>, field: string, text: string) =>
  formOf({ ...sample, [field]: '@here@' }).replace('%40here%40', () => text)

/** Escapes of NUL, of halves of a character, of bytes that are no UTF-8, and what is no escape. */
const oddTexts = ['%00', 'a%00b', '%ed%a0%bd', '%ED%B2%A9%ed%a0%bd', '%ff', '%c0%80', '%f0%9f%92', '%', '%zz', '%u0041']

for (const { name, send, sample, fields } of taking) {
  test(`${name} refuses NUL, half a character and what is no UTF-8 in all of its fields and their names (I3)`, async () => {
    for (const field of fields) {
      for (const text of oddTexts) {
        requireRefused(await send(formWith(sample, field, text)), `/${field}`, `${field}=${text}`)
        requireRefused(await send(`${formOf(sample)}&a${text}=1`), '', `a name with ${text}`)
      }
      requireRefused(await send(formWith(sample, field, 'a\0b')), `/${field}`, 'NUL as it is')
      for (const raw of [[0xff], [0xed, 0xa0, 0xbd], [0xc0, 0x80]]) {
        requireRefused(await send(bytes(`${field}=a`, raw, 'b')), '', `the bytes ${raw}`)
      }
    }
  })

  test(`${name} refuses fields that name a prototype (I4)`, async () => {
    const plain = formOf(sample)
    for (const evil of ['__proto__', '%5f%5fproto__']) {
      requireRefused(await send(`${plain}&${evil}=polluted`), '/__proto__', evil)
    }
    const brackets = ['__proto__[polluted]=1', 'constructor[prototype][polluted]=1', 'constructor=1', 'a.__proto__.b=1']
    for (const evil of brackets) {
      const answer = await send(`${plain}&${evil}`)
      assert.ok(answer.status < 500, answer.text)
    }
    assert.equal(Reflect.get({}, 'polluted'), undefined)
    assert.deepEqual([Object.keys(Object.prototype), Reflect.get(Object, 'prototype') === Object.prototype], [[], true])
  })

  test(`${name} refuses a repeated field, and more than 100 (I5)`, async () => {
    const plain = formOf(sample)
    for (const field of fields) {
      const escaped = `%${Buffer.from(field.slice(0, 1)).toString('hex')}${field.slice(1)}`
      for (const again of [`${field}=x`, `${field}=`, field, `${escaped}=x`, new URLSearchParams(sample).toString()]) {
        requireRefused(await send(`${plain}&${again}`), `/${field}`, `${again} beside ${plain}`)
      }
    }
    requireRefused(await send(`${plain}&a~/b=1&a%7e%2Fb=2`), '/a~0~1b', 'an ignored field twice')
    for (const many of [100, 300_000]) {
      requireRefused(await send(`${plain}${'&'.repeat(many)}`), '', `${many} empty fields`)
    }
    requireRefused(await send(Array.from({ length: 101 }, (_, index) => `f${index}=`).join('&')), '', '101 fields')
  })

  test(`${name} refuses a form without its fields, however they are hidden (I5)`, async () => {
    for (const field of fields) {
      const value = encodeURIComponent(String(sample[field]))
      const hidden = ['', '&', '=', `=${value}`, `${field}`, `${field}=`, `${field}[]=${value}`, `${field}[0]=${value}`]
      const spelt = [`\ufeff${field}=${value}`, ` ${field}=${value}`, `${field}+=${value}`, `${field};x=${value}`]
      for (const form of [...hidden, ...spelt, `x=${field}%3D${value}`, `${field.toUpperCase()}=${value}`]) {
        requireRefused(await send(form), `/${field}`, form)
      }
    }
  })

  test(`${name} refuses other encodings, decompresses nothing, and reads no more than 1 MiB (I1, I6)`, async () => {
    const plain = formOf(sample)
    const types = [
      ...['text/plain', 'application/json', 'application/x-www-form-urlencoded2', 'multipart/form-data; boundary=x'],
      ...[
        `${formType}; charset=utf-16`,
        `${formType}; charset=iso-8859-1`,
        `${formType}; boundary=x`,
        `text/${formType}`,
      ],
    ]
    const refused = [
      ...(await Promise.all(types.map((type) => send(plain, { 'content-type': type })))),
      await send(JSON.stringify(sample), { 'content-type': 'application/json' }),
      await send(bomb, { 'content-encoding': 'gzip' }),
      await send(bomb, { 'content-encoding': 'br' }),
    ]
    for (const { status, code } of refused) assert.deepEqual([status, code], [415, 'unsupported_media_type'])
    for (const type of [`${formType}; charset=utf-8`, `${formType};charset="UTF-8"`, formType.toUpperCase()]) {
      assert.notEqual((await send(plain, { 'content-type': type })).status, 415, type)
    }
    requireRefused(await send(bytes([0xff, 0xfe], [...Buffer.from(plain, 'utf16le')])), '', 'UTF-16')
    const large = await send(`${plain}&x=${'x'.repeat(1024 * 1024)}`)
    assert.deepEqual([large.status, large.code], [413, 'payload_too_large'])
  })

  test(`${name} answers soon whatever its fields contain (I12)`, async (t) => {
    const delay = monitorEventLoopDelay({ resolution: 5 })
    delay.enable()
    const escapes: [string, string][] = ['%41', '%e2%82%ac', '+', '=', '~', '%2F'].map((one) => [
      `many ${one}`,
      one.repeat(300_000 / one.length),
    ])
    for (const [what, text] of [
      ...cunningTexts.map(([of, raw]) => [of, encodeURIComponent(raw)] as const),
      ...escapes,
    ]) {
      // Escapes take up to nine letters for one.
      const part = text.slice(0, 999_999)
      for (const form of [...fields.map((field) => formWith(sample, field, part)), `${part}=1&${part}=1`]) {
        const answer = await send(form)
        assert.ok(answer.status < 500, `${what}: ${answer.text.slice(0, 200)}`)
      }
    }
    t.diagnostic(`held up for at most ${Math.round(delay.max / 1e6)} ms`)
  })
}

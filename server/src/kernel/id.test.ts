import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { isUuid, newId, readUuid } from './id.ts'

const version7 = /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/
const timeOf = (id: string) => Number.parseInt(id.replaceAll('-', '').slice(0, 12), 16)

suite('a new id', () => {
  test('is a uuid of version 7 in canonical form', () => {
    const id = newId()
    assert.match(id, version7)
    assert.ok(isUuid(id))
  })

  test('contains the time it was made', () => {
    const later = Date.now() + 60_000
    assert.equal(timeOf(newId(later)), later)
    assert.equal(timeOf(newId(later + 1.7)), later + 1)
  })

  test('sorts after the one before, 100,000 times within one millisecond', () => {
    const moment = Date.now() + 120_000
    const ids = Array.from({ length: 100_000 }, () => newId(moment))
    assert.equal(
      ids.findIndex((id, index) => id <= (ids[index - 1] ?? '')),
      -1,
    )
    assert.equal(
      ids.findIndex((id) => !version7.test(id)),
      -1,
    )
  })

  test('sorts after the one before even if the clock went back', () => {
    const before = newId(Date.now() + 180_000)
    assert.ok(newId(0) > before)
  })
})

suite('reading a uuid', () => {
  const plain = '0197c2a4-5b1e-7c3d-8f00-0123456789ab'
  const readings: [string, string, string | undefined][] = [
    ['takes the canonical form', plain, plain],
    ['takes upper case and gives lower case', plain.toUpperCase(), plain],
    ['refuses braces (T3)', `{${plain}}`, undefined],
    ['refuses missing hyphens (T3)', plain.replaceAll('-', ''), undefined],
    ['refuses hyphens in other places', '0197c2a45b1e-7c3d-8f00-0123-456789ab', undefined],
    ['refuses a space at the end (T3)', `${plain} `, undefined],
    ['refuses a line break at the end', `${plain}\n`, undefined],
    ['refuses a urn', `urn:uuid:${plain}`, undefined],
    ['refuses full-width digits', plain.replace('0', '０'), undefined],
    ['refuses a letter beyond f', plain.replace('a', 'g'), undefined],
    ['refuses empty text', '', undefined],
    ['refuses the word null (T3)', 'null', undefined],
  ]
  for (const [name, text, outcome] of readings) test(name, () => assert.equal(readUuid(text), outcome))

  test('only the lower-case form is canonical', () => {
    assert.ok(isUuid(plain))
    assert.ok(!isUuid(plain.toUpperCase()))
  })
})

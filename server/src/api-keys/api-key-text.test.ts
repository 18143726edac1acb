import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { suite, test } from 'node:test'
import { isUuid } from '../kernel/id.ts'
import { makeKeyText, readKeyText, sameHash } from './api-key-text.ts'

suite('the text of a key', () => {
  for (const [kind, prefix] of [
    ['api', 'sp'],
    ['scim', 'spscim'],
  ] as const) {
    test(`of kind ${kind} has its form, and reads back`, () => {
      const { id, text, secret_hash } = makeKeyText(kind)
      assert.match(text, new RegExp(`^${prefix}_[0-9a-f]{32}_[0-9A-Za-z]{43}_[0-9A-Za-z]{6}$`))
      assert.ok(isUuid(id))
      assert.deepEqual(readKeyText(text), { kind, id, secret_hash })
    })
  }

  test('is stored only as the SHA-256 of its secret', () => {
    const { text, secret_hash } = makeKeyText('api')
    const secret = text.split('_')[2] ?? ''
    assert.deepEqual(secret_hash, createHash('sha256').update(secret).digest())
  })

  test('is different each time, and always of the same length', () => {
    const texts = Array.from({ length: 1000 }, () => makeKeyText('api').text)
    assert.equal(new Set(texts.map((text) => text.split('_')[2])).size, 1000)
    assert.deepEqual(new Set(texts.map((text) => text.length)), new Set([86]))
  })

  test('reads the same in every release, because keys outlive releases', () => {
    const text = `sp_0197c2a45b1e7c3d8f000123456789ab_${'0123456789'.repeat(4)}abc_3QepUy`
    assert.equal(readKeyText(text)?.id, '0197c2a4-5b1e-7c3d-8f00-0123456789ab')
  })
})

suite('a text that is no key', () => {
  const { text } = makeKeyText('api')
  const changed = (place: number) => text.slice(0, place) + (text[place] === 'a' ? 'b' : 'a') + text.slice(place + 1)

  test('is one with any one letter changed (A8)', () => {
    for (let place = 0; place < text.length; place += 1)
      assert.equal(readKeyText(changed(place)), undefined, `place ${place}`)
  })

  test('is one cut anywhere (A8)', () => {
    for (let length = 0; length < text.length; length += 1) assert.equal(readKeyText(text.slice(0, length)), undefined)
  })

  const others: [string, string][] = [
    ['with a space before (A8)', ` ${text}`],
    ['with a space after it (A8)', `${text} `],
    ['with a line break after it (A8)', `${text}\n`],
    ['with another prefix (A8)', text.replace('sp_', 'spscim_')],
    ['with an unknown prefix (A8)', text.replace('sp_', 'sk_')],
    ['in upper case (A8)', text.toUpperCase()],
    ['repeated (A8)', `${text}${text}`],
    ['empty', ''],
    ['a megabyte of a prefix', `sp_${'0'.repeat(1 << 20)}`],
  ]
  for (const [name, other] of others) test(`is one ${name}`, () => assert.equal(readKeyText(other), undefined))
})

suite('two hashes', () => {
  const [one, other] = [makeKeyText('api').secret_hash, makeKeyText('api').secret_hash]
  const pairs: [string, Buffer, Buffer, boolean][] = [
    ['are the same when their bytes are', one, Buffer.from(one), true],
    ['differ when their bytes do', one, other, false],
    ['differ when one is cut', one, one.subarray(0, 31), false],
    ['differ when one is empty', one, Buffer.alloc(0), false],
  ]
  for (const [name, left, right, answer] of pairs) test(name, () => assert.equal(sameHash(left, right), answer))
})

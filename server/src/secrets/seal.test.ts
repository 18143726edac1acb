import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { suite, test } from 'node:test'
import { keyVersionOf, seal, unseal } from './seal.ts'

const key = randomBytes(32)
const place = ['tenant-a', 'identity_provider', 'id-1', 'client_secret']
const cannotOpen = { message: 'the sealed value cannot be opened: it was changed, moved, or sealed with another key' }

suite('a sealed value', () => {
  const values: [string, string | Buffer][] = [
    ['text', 'hunter2'],
    ['text beyond ascii', 'пароль 🔑'],
    ['empty text', ''],
    ['bytes', Buffer.from([0, 255, 128, 0])],
    ['a megabyte', randomBytes(1 << 20)],
  ]
  for (const [name, value] of values) {
    test(`opens again: ${name}`, () => {
      assert.deepEqual(unseal(key, seal(key, value, place), place), Buffer.from(value))
    })
  }

  test('is different each time, and does not contain the secret', () => {
    const [first, second] = [seal(key, 'hunter2', place), seal(key, 'hunter2', place)]
    assert.notEqual(first, second)
    assert.ok(!Buffer.from(first, 'base64url').includes('hunter2'))
  })

  for (const version of [undefined, 1, 70_000]) {
    test(`cannot be opened when any one bit of it is changed (S6): key version ${version}`, () => {
      const bytes = Buffer.from(seal(key, 'hunter2', place, version), 'base64url')
      assert.deepEqual(
        [unseal(key, bytes.toString('base64url'), place).toString(), keyVersionOf(bytes.toString('base64url'))],
        ['hunter2', version],
      )
      for (let bit = 0; bit < bytes.length * 8; bit += 1) {
        const changed = Buffer.from(bytes)
        changed.writeUInt8(changed.readUInt8(bit >> 3) ^ (1 << (bit & 7)), bit >> 3)
        assert.throws(() => unseal(key, changed.toString('base64url'), place), cannotOpen, `bit ${bit}`)
      }
    })
  }

  test('cannot be opened when cut anywhere (S6)', () => {
    const sealed = seal(key, 'hunter2', place)
    for (let length = 0; length < sealed.length; length += 1) {
      assert.throws(() => unseal(key, sealed.slice(0, length), place), cannotOpen, `length ${length}`)
    }
  })

  test('cannot be opened in another spelling of the same bytes', () => {
    const sealed = seal(key, 'hunter2', place)
    assert.throws(() => unseal(key, `${sealed}=`, place), cannotOpen)
    assert.throws(() => unseal(key, ` ${sealed}`, place), cannotOpen)
  })

  test('cannot be opened under another key', () => {
    assert.throws(() => unseal(randomBytes(32), seal(key, 'hunter2', place), place), cannotOpen)
  })

  const others: [string, string[]][] = [
    ['in the row of another tenant', ['tenant-b', ...place.slice(1)]],
    ['in another field', [...place.slice(0, 3), 'webhook_secret']],
    ['with its names in another order', place.toReversed()],
    ['with one name less', place.slice(0, 3)],
    ['with one more, empty name', [...place, '']],
    ['bound to nothing', []],
  ]
  for (const [name, other] of others) {
    test(`cannot be opened ${name} (S6)`, () => {
      assert.throws(() => unseal(key, seal(key, 'hunter2', place), other), cannotOpen)
    })
  }

  test('distinguishes names whose joined letters are the same', () => {
    assert.throws(() => unseal(key, seal(key, 'x', ['a', 'bc']), ['ab', 'c']), cannotOpen)
    assert.throws(() => unseal(key, seal(key, 'x', ['é']), ['e\u0301']), cannotOpen)
  })
})

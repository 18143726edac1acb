import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { test } from 'node:test'
import { anyCharacter, fc } from '../../test/support/chance.ts'
import { newId } from '../kernel/id.ts'
import { makeSessionSecret, readSessionSecret } from './session-secret.ts'

const tenant_id = newId()
const id = newId()
const letters = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_'

test('the value of a cookie names its tenant, its session and the hash of its secret', () => {
  const { text, cookie_hash } = makeSessionSecret(tenant_id, id)
  assert.match(text, /^[\w-]{86}$/)
  assert.deepEqual(readSessionSecret(text), { tenant_id, id, cookie_hash })
  const secret = Buffer.from(text, 'base64url').subarray(32)
  assert.equal(secret.length, 32)
  assert.deepEqual(createHash('sha256').update(secret).digest(), cookie_hash)
})

test('two values for one session have nothing else in common', () => {
  const [one, other] = [makeSessionSecret(tenant_id, id), makeSessionSecret(tenant_id, id)]
  assert.notEqual(one.text, other.text)
  assert.notDeepEqual(one.cookie_hash, other.cookie_hash)
})

test('any ids of tenant and session come back as they were', () => {
  fc.assert(
    fc.property(fc.uuid(), fc.uuid(), (tenant, session) => {
      const { text, cookie_hash } = makeSessionSecret(tenant, session)
      assert.deepEqual(readSessionSecret(text), { tenant_id: tenant, id: session, cookie_hash })
    }),
  )
})

const { text } = makeSessionSecret(tenant_id, id)
const bytes = Buffer.from(text, 'base64url')
const refused: Record<string, string> = {
  'an empty text': '',
  'a text that is one letter shorter': text.slice(0, -1),
  'a text that is one letter longer': `${text}A`,
  'a text of one byte more': Buffer.concat([bytes, Buffer.of(0)]).toString('base64url'),
  'a text of one byte less': bytes.subarray(0, -1).toString('base64url'),
  'padded base64url': `${text}==`,
  'base64 with `+` and `/`': `+/${text.slice(2)}`,
  hexadecimal: bytes.toString('hex'),
  'a text in quotes': `"${text}"`,
  'a text with a space before it': ` ${text.slice(1)}`,
  'a text with a line end after it': `${text}\n`,
  'an escaped letter': `%41${text.slice(3)}`,
  'a letter from outside the alphabet': `é${text.slice(1)}`,
  'two texts': `${text},${text}`,
}
for (const [name, other] of Object.entries(refused)) {
  test(`${name} is no value of a cookie`, () => assert.equal(readSessionSecret(other), undefined))
}

test('a value has one spelling: of the letters that decode like its last one, only that one is accepted', () => {
  const accepted = [...letters].filter((last) => readSessionSecret(text.slice(0, -1) + last) !== undefined)
  // The last letter carries two bits more than the four that count.
  assert.deepEqual(accepted, [...'AQgw'])
  const same = [...letters].filter((last) => Buffer.from(text.slice(0, -1) + last, 'base64url').equals(bytes))
  assert.equal(same.length, 16)
})

test('a text that is accepted is the only spelling of its bytes, whatever is changed', () => {
  const place = fc.nat({ max: text.length - 1 })
  fc.assert(
    fc.property(place, fc.constantFrom(...letters, ...'+/=.~%" \0é'), (index, letter) => {
      const other = text.slice(0, index) + letter + text.slice(index + 1)
      const read = readSessionSecret(other)
      if (other === text || read === undefined) return
      assert.equal(Buffer.from(other, 'base64url').toString('base64url'), other)
      assert.notDeepEqual(read, readSessionSecret(text))
    }),
  )
})

test('no text makes it throw', () => {
  fc.assert(fc.property(fc.string({ unit: anyCharacter, maxLength: 200 }), (any) => void readSessionSecret(any)))
})

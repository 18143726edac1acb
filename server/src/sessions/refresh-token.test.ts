import assert from 'node:assert/strict'
import { test } from 'node:test'
import { anyCharacter, fc } from '../../test/support/chance.ts'
import { newId } from '../kernel/id.ts'
import { makeRefreshToken, makeSuccessorSalt, readRefreshToken } from './refresh-token.ts'

const [tenant_id, id] = [newId(), newId()]

test('a refresh token names its tenant, its session, its family and the hash of its secret', () => {
  const made = makeRefreshToken(tenant_id, id)
  assert.match(made.text, /^spr_[\w-]{128}$/)
  const { successor: _, ...read } = readRefreshToken(made.text) ?? assert.fail()
  assert.deepEqual({ ...read, text: made.text }, { ...made, tenant_id, id })
})

test('a successor is of the same session and family, and has a secret of its own', () => {
  const first = readRefreshToken(makeRefreshToken(tenant_id, id).text)
  const second = readRefreshToken(first?.successor(makeSuccessorSalt()).text ?? '')
  assert.ok(first !== undefined && second !== undefined)
  assert.deepEqual([second.tenant_id, second.id, second.family_hash], [tenant_id, id, first.family_hash])
  assert.notDeepEqual(second.refresh_hash, first.refresh_hash)
})

test('the successor follows from the token and the salt together: the same for the same, another for another', () => {
  const [one, other] = [makeRefreshToken(tenant_id, id), makeRefreshToken(tenant_id, id)].map(({ text }) =>
    readRefreshToken(text),
  )
  const [salt, otherSalt] = [makeSuccessorSalt(), makeSuccessorSalt()]
  assert.ok(one !== undefined && other !== undefined)
  assert.deepEqual(one.successor(salt), one.successor(salt))
  const secrets = [one.successor(salt), one.successor(otherSalt), other.successor(salt)]
  assert.equal(new Set(secrets.map(({ refresh_hash }) => refresh_hash.toString('hex'))).size, 3)
})

test('two tokens for one session have nothing else in common', () => {
  const [one, other] = [makeRefreshToken(tenant_id, id), makeRefreshToken(tenant_id, id)]
  assert.notDeepEqual(one.family_hash, other.family_hash)
  assert.notDeepEqual(one.refresh_hash, other.refresh_hash)
})

const { text } = makeRefreshToken(tenant_id, id)
const refused: Record<string, string> = {
  'an empty text': '',
  'a text without its prefix': text.slice(4),
  'another prefix': `sp_${text.slice(4)}`,
  'a text that is one letter shorter': text.slice(0, -1),
  'a text that is one letter longer': `${text}A`,
  'a padded text': `${text}=`,
  'base64 with `+` and `/`': `spr_+/${text.slice(6)}`,
  'a text with a space before it': ` ${text}`,
  'a text with a line end after it': `${text}\n`,
  'a letter from outside the alphabet': `${text.slice(0, -1)}é`,
}
for (const [name, other] of Object.entries(refused)) {
  test(`${name} is no refresh token`, () => assert.equal(readRefreshToken(other), undefined))
}

test('each letter counts: any other one makes another token, or none', () => {
  const place = fc.nat({ max: text.length - 1 })
  const letters = fc.constantFrom(...'ABCXYZabcxyz019-_')
  const partsOf = (read: ReturnType<typeof readRefreshToken>) => read && { ...read, successor: undefined }
  fc.assert(
    fc.property(place, letters, (index, letter) => {
      const other = text.slice(0, index) + letter + text.slice(index + 1)
      if (other !== text) assert.notDeepEqual(partsOf(readRefreshToken(other)), partsOf(readRefreshToken(text)))
    }),
  )
})

test('any text is read or refused, and never fails', () => {
  fc.assert(fc.property(fc.string({ unit: anyCharacter, maxLength: 200 }), (any) => void readRefreshToken(any)))
})

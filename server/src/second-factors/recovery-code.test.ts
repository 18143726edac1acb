import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { makeRecoveryCodes, recoveryCodeHash } from './recovery-code.ts'

suite('recovery codes', () => {
  test('are ten, of four times four letters that do not look alike, and all different', () => {
    const codes = Array.from({ length: 50 }, makeRecoveryCodes)
    for (const some of codes) assert.equal(some.length, 10)
    for (const code of codes.flat())
      assert.match(code, /^[abcdefghjkmnpqrstvwxyz2-9]{4}(-[abcdefghjkmnpqrstvwxyz2-9]{4}){3}$/)
    assert.equal(new Set(codes.flat()).size, 500)
  })

  test('have each letter about as often as any other', () => {
    const counts = new Map<string, number>()
    const codes = Array.from({ length: 200 }, makeRecoveryCodes).flat()
    for (const letter of codes.join('').replaceAll('-', '')) counts.set(letter, (counts.get(letter) ?? 0) + 1)
    assert.equal(counts.size, 30)
    // 32,000 letters: a letter has 1,067 on average, 32 more or less for one in three. Ten times that is no chance.
    for (const [letter, count] of counts) assert.ok(Math.abs(count - 32_000 / 30) < 320, `${letter}: ${count}`)
  })

  const code = 'abcd-efgh-jkmn-pq23'
  const same = [
    'ABCD-EFGH-JKMN-PQ23',
    'abcdefghjkmnpq23',
    ' abcd efgh jkmn pq23\n',
    'a-b-c-d-efghjkmn\tpq23',
    'Abcd-EFgh JKmn-PQ23',
  ]
  for (const text of same) {
    test(`are the same as ${JSON.stringify(text)}`, () => {
      assert.deepEqual(recoveryCodeHash(text), recoveryCodeHash(code))
    })
  }
  for (const text of ['abcd-efgh-jkmn-pq24', 'abcd-efgh-jkmn-pq2', 'abcd-efgh-jkmn-pq233', 'abcd_efgh_jkmn_pq23', '']) {
    test(`are not the same as ${JSON.stringify(text)}`, () => {
      assert.notDeepEqual(recoveryCodeHash(text), recoveryCodeHash(code))
    })
  }

  test('are stored as a hash of 32 bytes', () => assert.equal(recoveryCodeHash(code).length, 32))
})

import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { accountOf, environmentOf, isOfRehearsal, isSameAccount, readNumber } from './account.ts'

suite('an account number', () => {
  const cases: [text: string, expected: string | undefined][] = [
    ['123456789012', '123456789012'],
    [' 1234 5678 9012 ', '123456789012'],
    ['1234-5678-9012', '123456789012'],
    ['1234 5678\t9012', '123456789012'],
    ['000000000001', '000000000001'],
    ['12345678901', undefined],
    ['1234567890123', undefined],
    ['12345678901x', undefined],
    ['١٢٣٤٥٦٧٨٩٠١٢', undefined],
    ['', undefined],
  ]
  for (const [text, expected] of cases)
    test(`“${text}” is ${expected ?? 'none'}`, () => assert.equal(readNumber(text), expected))
})

suite('an account', () => {
  const metadata: [metadata: Record<string, unknown>, env: string | undefined, rehearses: boolean][] = [
    [{ env: 'production' }, 'production', false],
    [{ env: 'sandbox', rehearsal: 'true' }, 'sandbox', true],
    [{ env: 7 }, undefined, false],
    [{ env: '' }, undefined, false],
    [{ rehearsal: true }, undefined, false],
    [{}, undefined, false],
  ]
  for (const [given, env, rehearses] of metadata)
    test(`with ${JSON.stringify(given)} is ${env ?? 'of no environment'}${rehearses ? ', of the rehearsal' : ''}`, () =>
      assert.deepEqual([environmentOf({ metadata: given }), isOfRehearsal({ metadata: given })], [env, rehearses]))

  const added = accountOf({ name: ' payments ', number: '123456789012', environment: ' production ' })
  test('is added by its number, without the spaces around its name', () =>
    assert.deepEqual(added, {
      ...{ id: '123456789012', account_id: '123456789012', name: 'payments', rank: 0 },
      metadata: { env: 'production' },
    }))

  const others: [what: string, stored: typeof added, expected: boolean][] = [
    ['is the one that was added', { ...added }, true],
    ['of another name is not', { ...added, name: 'billing' }, false],
    ['of another id is not', { ...added, id: 'payments' }, false],
    ['with a further tag is not', { ...added, metadata: { env: 'production', team: 'red' } }, false],
    ['of another environment is not', { ...added, metadata: { env: 'test' } }, false],
    ['at another place in the list is not', { ...added, rank: 3 }, false],
  ]
  for (const [what, stored, expected] of others)
    test(`that is stored and ${what}`, () => assert.equal(isSameAccount(stored, added), expected))
})

import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { digitsOf, inFours, isAppLink, isPasskeySite } from './factor.ts'

test('a secret stands in groups of four', () => {
  assert.deepEqual(['ABCDEFGHIJ', 'ABCD', ''].map(inFours), ['ABCD EFGH IJ', 'ABCD', ''])
})

test('the digits of a code count, however it is typed', () => {
  assert.deepEqual(['123456', ' 123 456 ', '123-456'].map(digitsOf), ['123456', '123456', '123456'])
})

test('only a link to an authenticator app is a link', () => {
  assert.deepEqual(
    ['otpauth://totp/x?secret=A', 'javascript:alert(1)', 'https://example.com/otpauth://'].map(isAppLink),
    [true, false, false],
  )
})

suite('browsers make passkeys at', () => {
  const cases: [string, boolean][] = [
    ['https://access.example.com', true],
    ['http://localhost:8080', true],
    ['http://console.localhost', true],
    ['http://access.example.com', false],
    ['https://10.0.0.1', false],
    ['https://[::1]', false],
  ]
  for (const [url, made] of cases)
    test(`${url}: ${made ? 'yes' : 'no'}`, () => assert.equal(isPasskeySite(new URL(url)), made))
})

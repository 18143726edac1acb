import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Problem } from '../../kernel/errors.ts'
import { translateDatabaseError } from './constraints.ts'
import { NoConnection } from './no-connection.ts'

/** The code of the caller's error; `ours`: it stays an error of the service, 500. */
function codeFor(error: unknown): string {
  try {
    return translateDatabaseError(error)
  } catch (thrown) {
    if (!(thrown instanceof Problem)) return 'ours'
    assert.ok(thrown.cause === error, 'the cause is lost')
    return thrown.code
  }
}

const coded = (code: string | undefined, message = 'kept-secret') => Object.assign(new Error(message), code && { code })

test('a database that cannot be used is `unavailable`; a mistake of ours is not', () => {
  const cases: [string | undefined, 'unavailable' | 'ours' | 'invalid_input'][] = [
    ...['08000', '08003', '08006', '08P01'].map((code) => [code, 'unavailable'] as [string, 'unavailable']),
    ...['28000', '28P01', '3D000'].map((code) => [code, 'unavailable'] as [string, 'unavailable']),
    ...['53000', '53100', '53200', '53300'].map((code) => [code, 'unavailable'] as [string, 'unavailable']),
    ...['57P01', '57P02', '57P03', '57P05', '57014'].map((code) => [code, 'unavailable'] as [string, 'unavailable']),
    ...['25006', '25P03', '25P04', '58030'].map((code) => [code, 'unavailable'] as [string, 'unavailable']),
    ...['40P01', '55P03', '26000'].map((code) => [code, 'unavailable'] as [string, 'unavailable']),
    ...['ECONNRESET', 'EPIPE'].map((code) => [code, 'unavailable'] as [string, 'unavailable']),
    ['22021', 'invalid_input'],
    ...['42501', '42P01', '23505', '22012', 'XX000', undefined].map((code) => [code, 'ours'] as [string, 'ours']),
  ]
  for (const [code, expected] of cases) assert.equal(codeFor(coded(code)), expected, code)
})

test('whatever keeps a connection from opening, nothing was sent: `unavailable`', () => {
  for (const code of ['42501', '55000', 'XX000', 'ENOTFOUND', 'SELF_SIGNED_CERT_IN_CHAIN', undefined]) {
    assert.equal(codeFor(NoConnection.from(coded(code))), 'unavailable', code)
  }
})

test('what a caller reads has nothing of the cause', () => {
  assert.throws(
    () => translateDatabaseError(coded('28P01')),
    ({ message }: Problem) => !message.includes('kept-secret'),
  )
})

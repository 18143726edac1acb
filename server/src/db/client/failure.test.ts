import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Problem } from '../../kernel/errors.ts'
import { type DatabaseFailure, failureOf } from './failure.ts'
import { NoConnection } from './no-connection.ts'

const withCode = (code: string | undefined) => Object.assign(new Error('…'), code !== undefined && { code })

test('an error says what keeps the database from being used', () => {
  const cases: [string | undefined, DatabaseFailure][] = [
    ['28P01', 'credentials'],
    ['28000', 'credentials'],
    ['3D000', 'no_database'],
    ['42501', 'forbidden'],
    ['25006', 'read_only'],
    ['53100', 'disk_full'],
    ['53300', 'no_more_connections'],
    ['57P03', 'starting'],
    ['57P01', 'no_answer'],
    ['08006', 'no_answer'],
    ['ECONNREFUSED', 'no_answer'],
    ['ENOTFOUND', 'no_answer'],
    ['ENOENT', 'no_answer'],
    ['23505', 'other'],
    [undefined, 'other'],
  ]
  for (const [code, failure] of cases) {
    assert.equal(failureOf(withCode(code)), failure, code)
    if (code === undefined) continue
    const problem = new Problem('unavailable', '…')
    problem.cause = NoConnection.from(withCode(code))
    assert.equal(failureOf(problem), failure, `${code}, as the caller's error`)
  }
  assert.equal(failureOf(new Error('timeout expired')), 'no_answer')
  assert.equal(failureOf(new Error('Connection terminated unexpectedly')), 'no_answer')
  assert.equal(failureOf(new NoConnection('none')), 'no_answer')
  assert.equal(failureOf('not an error'), 'other')
})

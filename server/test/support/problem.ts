import assert from 'node:assert/strict'
import { Problem } from '../../src/kernel/errors.ts'

/** The problem that the work throws; fails if it throws nothing or another error. */
export function problemOf(work: () => unknown): Problem {
  try {
    work()
  } catch (thrown) {
    assert.ok(thrown instanceof Problem, String(thrown))
    return thrown
  }
  return assert.fail('nothing was refused')
}

import assert from 'node:assert/strict'
import { ScimProblem } from '../../src/http/scim-problem.ts'

/** What the work returns, or its refusal as `400 invalidPath`. */
export function scimOutcome<T>(work: () => T): T | string {
  try {
    return work()
  } catch (thrown) {
    assert.ok(thrown instanceof ScimProblem, String(thrown))
    return [thrown.status, thrown.scimType].join(' ').trim()
  }
}

import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { english } from '../words/english.ts'
import { type GrantFacts, grantState, isLive, isMoving } from './grant.ts'

/** Status, status at the target, changed by hand; the word, whether it is listed as the person's, whether a target works on it. */
const cases: [GrantFacts['status'], GrantFacts['provisioning_status'], boolean, string, boolean, boolean][] = [
  ['pending', 'not_attempted', false, 'Starting', true, true],
  ['pending', 'attempting', false, 'Starting', true, true],
  ['active', 'successful', false, 'Active', true, false],
  ['active', 'successful', true, 'Changed by hand', true, false],
  ['failed', 'failed', false, 'Failed to start', false, false],
  ['expired', 'deprovisioning', false, 'Ending', true, true],
  ['expired', 'deprovisioned', false, 'Ended', false, false],
  ['expired', 'deprovisioning_failed', false, 'Still has access', true, false],
  ['revoked', 'deprovisioning', false, 'Ending', true, true],
  ['revoked', 'deprovisioned', false, 'Ended early', false, false],
  ['revoked', 'deprovisioning_failed', true, 'Still has access', true, false],
  ['revoked', undefined, false, 'Ended early', false, false],
]

suite('the state of access', () => {
  for (const [status, provisioning_status, drifted, word, live, moving] of cases)
    test(`${status}, ${provisioning_status ?? 'nothing'} at its target${drifted ? ', changed by hand' : ''}: ${word}`, () => {
      const grant = { status, drifted, ...(provisioning_status !== undefined && { provisioning_status }) }
      assert.equal(grantState(grant, english).word, word)
      assert.equal(isLive(grant), live)
      assert.equal(isMoving(grant), moving)
    })

  test('ended is never said of what is still there', () => {
    for (const [status, provisioning_status, drifted] of cases) {
      const grant = { status, drifted, ...(provisioning_status !== undefined && { provisioning_status }) }
      if (isLive(grant)) assert.doesNotMatch(grantState(grant, english).word, /^Ended/)
    }
  })
})

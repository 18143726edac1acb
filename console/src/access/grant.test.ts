import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { english } from '../words/english.ts'
import { type Grant, type GrantFacts, grantState, isLive, isMoving, placesOf } from './grant.ts'

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

type Place = 'yours' | 'ended' | 'neither'
type Own = Parameters<typeof placesOf>[0][number]

const [earlier, today] = ['2026-11-25T10:00:00Z', '2026-11-26T10:00:00Z']

const own = (status: Grant['status'], at: string, more: Partial<Own> = {}): Own => ({
  ...{ status, resource: { type: 'cloud_account', id: '123456789012' }, action: 'ReadOnlyAccess' },
  ...{ updated_at: at, ...more },
})

const places: [what: string, grants: Own[], place: Place][] = [
  ['what is active', [own('active', earlier)], 'yours'],
  ['what ended today', [own('expired', today, { ended_at: today })], 'ended'],
  ['what ended earlier', [own('expired', today, { ended_at: earlier })], 'neither'],
  [
    'what ended earlier and is still there',
    [own('revoked', earlier, { provisioning_status: 'deprovisioning_failed' })],
    'yours',
  ],
  ['a start that failed today', [own('failed', today)], 'yours'],
  ['a start that failed earlier', [own('failed', earlier)], 'neither'],
  ['a start that failed today, of access that there is now', [own('failed', today), own('active', today)], 'ended'],
  [
    'a start that failed today, beside other access',
    [own('failed', today), own('active', today, { action: 'Admin' })],
    'yours',
  ],
]

suite('where a person reads of their access', () => {
  for (const [what, grants, place] of places)
    test(`${what}: ${place}`, () => {
      const { yours, ended } = placesOf(grants, (at) => at === today)
      const [first] = grants as [Own]
      assert.equal(yours.includes(first) ? 'yours' : ended.includes(first) ? 'ended' : 'neither', place)
      assert.ok(!(yours.includes(first) && ended.includes(first)))
    })
})

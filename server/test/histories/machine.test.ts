import assert from 'node:assert/strict'
import { test } from 'node:test'
import { grantTransitions, transitionsOf } from '../../src/grants/grant-transition.ts'
import { grantSteps, newGrant, reachable, retried, revoked } from './machine.ts'

test('the steps of a grant are those of the service’s own table', () => {
  const changes = new Set(grantTransitions.map(({ change }) => change))
  const theirs = [...changes]
    .flatMap(transitionsOf)
    .flatMap(({ from, was, to, becomes }) =>
      from.flatMap((status) => was.map((step) => `${status}/${step} > ${to ?? status}/${becomes}`)),
    )
  assert.deepEqual([...grantSteps()].toSorted(), [...new Set(theirs)].toSorted())
})

const statusesFrom = (state: Parameters<typeof reachable>[0]) => new Set(reachable(state).map(({ status }) => status))

test('workers give, fail and expire a grant, and never end it early or retry it', () => {
  assert.deepEqual(statusesFrom(newGrant), new Set(['pending', 'active', 'expired', 'failed']))
  assert.deepEqual(statusesFrom({ status: 'revoked', step: 'deprovisioning', by: 'ada' }), new Set(['revoked']))
  assert.deepEqual(statusesFrom({ status: 'failed', step: 'failed', by: null }), new Set(['failed']))
})

test('workers let a pending request expire, and change no other', () => {
  assert.deepEqual(statusesFrom({ status: 'pending', step: null, by: null }), new Set(['pending', 'expired']))
  assert.deepEqual(statusesFrom({ status: 'approved', step: null, by: 'ben' }), new Set(['approved']))
})

test('only a live grant is ended early, and only a failed one is retried', () => {
  const ended = { status: 'expired', step: 'deprovisioned', by: null }
  assert.deepEqual(revoked(newGrant, 'ada'), [{ status: 'revoked', step: 'not_attempted', by: 'ada' }])
  assert.deepEqual(revoked(ended, 'ada'), [])
  assert.deepEqual(retried({ status: 'failed', step: 'failed', by: null }), [newGrant])
  assert.deepEqual(retried(ended), [])
})

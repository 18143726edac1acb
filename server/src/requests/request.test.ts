import assert from 'node:assert/strict'
import { test } from 'node:test'

import { maySee, notPending, requireMayDecide } from './request.ts'

test('no user decides their own request, and only users decide', () => {
  assert.throws(
    () => requireMayDecide({ user_id: 'ada' }, { requester_id: 'ada' }),
    /you cannot decide your own request/,
  )
  assert.throws(() => requireMayDecide({ user_id: null }, { requester_id: 'ada' }))
  requireMayDecide({ user_id: 'ben' }, { requester_id: 'ada' })
})

test('a request is visible to its requester and to users with requests:read', () => {
  const nothing = new Set<string>()
  assert.ok(maySee({ user_id: 'ada', scopes: nothing }, { requester_id: 'ada' }))
  assert.ok(maySee({ user_id: 'ben', scopes: new Set(['requests:read']) }, { requester_id: 'ada' }))
  assert.ok(!maySee({ user_id: 'ben', scopes: new Set(['requests:approve']) }, { requester_id: 'ada' }))
})

test('a late decision gets the status and the approver of the first decision', () => {
  assert.deepEqual(notPending({ status: 'approved', decided_by: 'ben' }).details, {
    status: 'approved',
    decided_by: 'ben',
  })
  assert.deepEqual(notPending({ status: 'cancelled', decided_by: null }).details, { status: 'cancelled' })
})

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { storesOf } from './stores.ts'

test('the stores are those that a test of a connection found', () => {
  const tested = { id: 'p1', name: 'AWS', config: { identity_store_id: 'd-1' } }
  const untested = { id: 'p2', name: 'Other', config: {} }
  assert.deepEqual(storesOf([tested, untested]), [{ provisioner_id: 'p1', identity_store_id: 'd-1', name: 'AWS' }])
})

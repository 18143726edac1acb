import assert from 'node:assert/strict'
import { test } from 'node:test'
import { testDatabase } from '../../test/support/database.ts'
import { releaseLeases } from './release-leases.ts'

const { database, asSuperuser } = await testDatabase()

test('releases all leases under a new generation, and leaves rows without a lease as they are', async () => {
  await asSuperuser(`insert into event_cursor (subscriber, lease_until, generation) values
    ('held', clock_timestamp() + interval '20 seconds', 7), ('free', null, 3)`)
  await releaseLeases(database)
  const cursors = await asSuperuser(
    'select subscriber, lease_until, generation::int from event_cursor order by subscriber',
  )
  assert.deepEqual(cursors, [
    { subscriber: 'free', lease_until: null, generation: 3 },
    { subscriber: 'held', lease_until: null, generation: 8 },
  ])
})

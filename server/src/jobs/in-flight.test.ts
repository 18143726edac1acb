import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Tx } from '../kernel/context.ts'
import { trackInFlight } from './in-flight.ts'

test('a row that is claimed again while its last claim ends stays in flight', async () => {
  const hand = trackInFlight(
    { width: 4, perTenant: 4 },
    (tenant_id) => ({ tenant_id }) as Tx,
    () => undefined,
  )
  const row = { tenant_id: 't', id: 'r' }
  const [first, second] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
  hand.add({ ...row, generation: '1' }, () => first.promise)
  hand.add({ ...row, generation: '2' }, () => second.promise)
  first.resolve()
  await new Promise((resolve) => setImmediate(resolve))
  assert.deepEqual(
    hand.olderThan(-1).map(({ generation }) => generation),
    ['2'],
  )
  second.resolve()
  await hand.allDone()
  await new Promise((resolve) => setImmediate(resolve))
  assert.deepEqual([hand.olderThan(-1), hand.room()], [[], { max: 4, maxPerTenant: 1 }])
})

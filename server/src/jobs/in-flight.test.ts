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

test('where all places are taken, rows that take very long are ended, one at a time', async () => {
  const openTenant = (tenant_id: string) => ({ tenant_id }) as Tx
  const bounds = { width: 1, perTenant: 4, long: { afterMs: 0, goOn: 1, untilMs: 60_000 } }
  const hand = trackInFlight(bounds, openTenant, () => undefined)
  const [ended, ends]: [string[], Record<string, () => void>] = [[], {}]
  const add = (id: string) =>
    hand.add({ tenant_id: `tenant of ${id}`, id, generation: '1' }, (_tx, signal) => {
      signal.addEventListener('abort', () => ended.push(id))
      return new Promise((resolve) => {
        ends[id] = resolve
      })
    })
  const settled = () => new Promise((resolve) => setImmediate(resolve))
  for (const id of ['1', '2', '3']) add(id)
  hand.makeRoom()
  assert.deepEqual(ended, [], 'there is a place')
  add('4')
  hand.makeRoom()
  hand.makeRoom()
  assert.deepEqual(ended, ['4'], 'its place is not free yet')
  ends[4]?.()
  await settled()
  hand.makeRoom()
  assert.deepEqual(ended, ['4'], 'its place is free')
  add('5')
  hand.makeRoom()
  assert.deepEqual(ended, ['4', '5'])
  for (const end of Object.values(ends)) end()
  await hand.allDone()
})

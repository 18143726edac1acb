import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { findServer } from '../support/database.ts'
import { pointAt } from './crash-points.ts'
import { openPair, type Pair } from './pair.ts'

let pair: Pair
const stops: (() => Promise<void>)[] = []
before(async () => {
  const { server, stop } = await findServer()
  pair = await openPair(server, 'shortened', 'postgresql')
  stops.push(pair.close, stop)
})
after(async () => {
  for (const stop of stops) await stop()
})

test('a worker stopped past its lease before it grants a role leaves no access of an ended grant (F2)', async () => {
  const { reached, faults } = await pair.putToSleep(pointAt('after', 'giving begun'))
  assert.ok(reached, 'the point was never reached: if its statement has changed, change the step in crash-points.ts')
  assert.deepEqual(faults, [])
})

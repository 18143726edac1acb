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

test('stopped past its lease before it gives a role, a resumed worker leaves no access whose grant has ended meanwhile (F2)', async () => {
  const { reached, faults } = await pair.putToSleep(pointAt('after', 'giving begun'))
  assert.ok(reached, 'the point never came: has its statement changed? It is described in crash-points.ts')
  assert.deepEqual(faults, [])
})

import assert from 'node:assert/strict'
import { randomInt } from 'node:crypto'
import { after, before, test } from 'node:test'
import { findServer } from '../support/database.ts'
import { anyBatch, pointAt } from './crash-points.ts'
import { type Lane, openLane } from './lane.ts'

/** The short form of `npm run test:kill`, on one service: a step of each kind, and two statements by chance. */
const points = [
  pointAt('after', 'approval'),
  pointAt('after', 'entitlement claimed'),
  pointAt('after', 'create sent'),
  pointAt('before', 'reference kept'),
  pointAt('before', 'presence kept'),
  pointAt('before', 'end written'),
  pointAt('after', 'polled'),
  pointAt('before', 'cursor moved'),
  ...anyBatch,
]

let lane: Lane
const stops: (() => Promise<void>)[] = []
before(async () => {
  const { server, stop } = await findServer()
  lane = await openLane(server, 'shortened')
  stops.push(lane.close, stop)
})
after(async () => {
  for (const stop of stops) await stop()
})

for (const point of points) {
  test(`killed ${point.name}: nothing lost, left behind, doubled or untold (F1)`, async (t) => {
    const seed = randomInt(1_000_000)
    const { reached, faults, convergedMs } = await lane.kill(point, seed)
    assert.ok(reached, `the point never came: has its statement changed? It is described in crash-points.ts`)
    assert.deepEqual(faults, [], `npm run test:kill -- --kills 1 --seed ${seed} --point "${point.name}"`)
    t.diagnostic(`at rest after ${convergedMs} ms`)
  })
}

import assert from 'node:assert/strict'
import { after, suite, test } from 'node:test'
import type { ProvisionerType } from '../../src/provisioners/provisioner.ts'
import { anySeed } from '../support/chance.ts'
import { findServer } from '../support/database.ts'
import { type CrashPoint, pointAt } from './crash-points.ts'
import { openLane } from './lane.ts'

/** One service, its company's access given by that type of provisioner, killed at each of the points. */
export function killAt(type: ProvisionerType, points: readonly CrashPoint[]): void {
  suite(`access by ${type}`, async () => {
    const { server, stop } = await findServer()
    const lane = await openLane(server, 'shortened', type)
    after(() => lane.close().finally(stop))
    for (const point of points) {
      test(`killed ${point.name}: nothing lost, left behind, doubled or untold (F1)`, async (t) => {
        const seed = anySeed()
        const { reached, faults, convergedMs } = await lane.kill(point, seed)
        assert.ok(reached, `the point never came: has its statement changed? It is described in crash-points.ts`)
        const again = `npm run test:kill -- --kills 1 --seed ${seed} --provisioner ${type} --point "${point.name}"`
        assert.deepEqual(faults, [], again)
        t.diagnostic(`at rest after ${convergedMs} ms`)
      })
    }
  })
}

/** Killed at each call that the target has just done, and not answered. */
export function killAtCalls(type: ProvisionerType): void {
  killAt(type, [pointAt('after', 'create sent'), pointAt('after', 'delete sent')])
}

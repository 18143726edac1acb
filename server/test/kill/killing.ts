import assert from 'node:assert/strict'
import { after, suite, test } from 'node:test'
import type { ProvisionerType } from '../../src/provisioners/provisioner.ts'
import { anySeed } from '../support/chance.ts'
import { findServer } from '../support/database.ts'
import { type CrashPoint, pointAt } from './crash-points.ts'
import { openSingleService } from './solo.ts'

/** One service, whose company gets access by that type of provisioner, killed at each of the points. */
export function killAt(type: ProvisionerType, points: readonly CrashPoint[]): void {
  suite(`access by ${type}`, async () => {
    const { server, stop } = await findServer()
    const service = await openSingleService(server, 'shortened', type)
    after(() => service.close().finally(stop))
    for (const point of points) {
      test(`killed ${point.name}: nothing lost, dangling, doubled or unreported (F1)`, async (t) => {
        const seed = anySeed()
        const { reached, faults, convergedMs } = await service.kill(point, seed)
        assert.ok(
          reached,
          `the point was never reached: if its statement has changed, change the step in crash-points.ts`,
        )
        const again = `npm run test:kill -- --kills 1 --seed ${seed} --provisioner ${type} --point "${point.name}"`
        assert.deepEqual(faults, [], again)
        t.diagnostic(`at rest after ${convergedMs} ms`)
      })
    }
  })
}

/** Killed at each call that the target has executed and not answered. */
export function killAtCalls(type: ProvisionerType): void {
  killAt(type, [pointAt('after', 'create sent'), pointAt('after', 'delete sent')])
}

import { after, before, suite, test } from 'node:test'
import { acts } from './acts.ts'
import { configs } from './configs.ts'
import { plans } from './plans.ts'
import { type Checks, type Stage, tryCheck } from './stage.ts'
import { troubles } from './troubles.ts'

/** The contract of `driver.ts`, sentence by sentence. */
export const conformance: Checks = { ...plans, ...acts, ...troubles, ...configs }

/**
 * Tests a driver type on a real target, or on a simulation of its protocol: every type passes every check. `open` prepares the
 * target; it is called once, and closed after the last check.
 */
export function driverConformance(name: string, open: () => Promise<Stage>): void {
  suite(`${name} keeps the contract of a driver`, () => {
    let stage: Stage
    before(async () => {
      stage = await open()
    })
    after(async () => stage.close?.())
    for (const [sentence, check] of Object.entries(conformance)) test(sentence, () => tryCheck(stage, check))
  })
}

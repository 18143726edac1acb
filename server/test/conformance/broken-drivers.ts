import { type Driver, type DriverType, TargetError } from '../../src/provisioners/driver.ts'
import type { Stage } from './stage.ts'

/** A fault: the sentence that it breaks, and the message of the suite. */
export type Wrong = { sentence: string; fault: string; says: RegExp; on(stage: Stage): Stage }

/** The stage with a changed driver. */
export const drivers = (stage: Stage, change: (driver: Driver) => Partial<Driver>): Stage =>
  typed(stage, {
    open: (opening) => {
      const driver = stage.type.open(opening)
      return { ...driver, ...change(driver) }
    },
  })

/** The stage with a changed driver type. */
export const typed = (stage: Stage, change: Partial<DriverType>): Stage => ({
  ...stage,
  type: { ...stage.type, ...change },
})

export const done = () => Promise.resolve({ done: true } as const)
export const refuse = (message = 'it is not to be done') => Promise.reject(new TargetError('permanent', message))

export const of = (sentence: string, ...wrongs: [fault: string, says: RegExp, on: Wrong['on']][]): Wrong[] =>
  wrongs.map(([fault, says, on]) => ({ sentence, fault, says, on }))

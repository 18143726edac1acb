import { withinDeadline } from '../kernel/deadline.ts'
import { TargetError } from './driver.ts'

/**
 * Waits for a target's answer. A call longer than `maxMs` counts as a transient failure, whether or not it reacts to the
 * signal. It may still have a late effect.
 */
export function inTime<Answer>(maxMs: number, call: (signal: AbortSignal) => Promise<Answer>): Promise<Answer> {
  return withinDeadline(maxMs, call, () => {
    throw new TargetError('transient', `the target did not answer within ${maxMs / 1000} s`)
  })
}

/** How long a call to a target may take. */
export const maxCallMs = 30_000

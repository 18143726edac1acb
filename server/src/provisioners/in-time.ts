import { withinDeadline } from '../kernel/deadline.ts'
import { TargetError } from './driver.ts'

/**
 * Waits for a target's answer: a call that takes longer than `longestMs` has failed for now, whether or not it heeds the
 * signal. What it began may still land.
 */
export function inTime<Answer>(maxMs: number, call: (signal: AbortSignal) => Promise<Answer>): Promise<Answer> {
  return withinDeadline(maxMs, call, () => {
    throw new TargetError('transient', `the target did not answer within ${maxMs / 1000} s`)
  })
}

/** How long a call to a target may take. */
export const maxCallMs = 30_000

import { TargetError } from './driver.ts'

/**
 * Waits for a target's answer, but not for ever: a call that takes longer than `longestMs` has failed for now, whether or
 * not it heeds the signal. What it began may still land.
 */
export async function inTime<Answer>(
  longestMs: number,
  call: (signal: AbortSignal) => Promise<Answer>,
): Promise<Answer> {
  const controller = new AbortController()
  const { promise: tooLate, reject } = Promise.withResolvers<never>()
  const timer = setTimeout(() => {
    reject(new TargetError('transient', `the target did not answer within ${longestMs / 1000} s`))
    controller.abort()
  }, longestMs)
  try {
    return await Promise.race([tooLate, call(controller.signal)])
  } finally {
    clearTimeout(timer)
  }
}

/** How long a call to a target may take. */
export const longestCallMs = 30_000

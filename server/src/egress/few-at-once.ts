import { Problem } from '../kernel/errors.ts'
import { openTurns } from '../kernel/turns.ts'
import type { Resolve } from './call-out.ts'

/** The system looks names up on the four threads that hash passwords too. */
const mostAtOnce = 2

/**
 * The same, for so many names at once: a tenant whose names take long to find keeps nobody from signing in. Who waits in vain
 * is answered as where the system finds nobody to ask.
 */
export function fewAtOnce(resolve: Resolve, longestWaitMs = 5_000): Resolve {
  const turns = openTurns(mostAtOnce, longestWaitMs)
  return (host) =>
    turns('', () => resolve(host)).catch((error: unknown) => {
      if (!(error instanceof Problem)) throw error
      throw Object.assign(new Error('other names take too long to be found'), { code: 'EAI_AGAIN' })
    })
}

import { createSemaphore } from '../kernel/semaphore.ts'
import type { Resolve } from './call-out.ts'

/**
 * Resolves two names at once at most. The system looks names up on the four threads that also hash passwords, so a tenant whose
 * names take long to find must not keep others from signing in. A look-up that waits too long fails like one that finds no server.
 */
export function limitedResolve(resolve: Resolve, maxWaitMs = 5_000): Resolve {
  const lookups = createSemaphore({
    limit: 2,
    maxWaitMs,
    refusal: () => Object.assign(new Error('other names take too long to be found'), { code: 'EAI_AGAIN' }),
  })
  return (host) => lookups.run(() => resolve(host))
}

import { createSemaphore } from '../kernel/semaphore.ts'
import type { Resolve } from './call-out.ts'

/**
 * Resolves at most two names at once. The system looks names up on the four threads that also hash passwords, so slow lookups
 * of one tenant must not keep others from signing in. A lookup that waits too long fails as if no DNS server answered.
 */
export function limitedResolve(resolve: Resolve, maxWaitMs = 5_000): Resolve {
  const lookups = createSemaphore({
    limit: 2,
    maxWaitMs,
    refusal: () =>
      Object.assign(new Error('too many slow name lookups are running; retry in a moment'), { code: 'EAI_AGAIN' }),
  })
  return (host) => lookups.run(() => resolve(host))
}

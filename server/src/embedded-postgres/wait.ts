import { setTimeout as pause } from 'node:timers/promises'

/**
 * Asks again and again until an answer other than undefined comes, at most `forMs` milliseconds, `everyMs` apart.
 * Asks at least once; undefined when time is up.
 */
export async function waitFor<T>(
  ask: () => T | undefined | Promise<T | undefined>,
  forMs: number,
  everyMs: number,
): Promise<T | undefined> {
  const deadline = performance.now() + forMs
  for (;;) {
    const answer = await ask()
    if (answer !== undefined) return answer
    if (performance.now() >= deadline) return undefined
    await pause(everyMs)
  }
}

import { setTimeout as pause } from 'node:timers/promises'

/**
 * Polls every `everyMs` milliseconds until the result is not undefined, for at most `forMs` milliseconds. Polls at least once;
 * returns undefined when time is up.
 */
export async function waitFor<T>(
  poll: () => T | undefined | Promise<T | undefined>,
  forMs: number,
  everyMs: number,
): Promise<T | undefined> {
  const deadline = performance.now() + forMs
  for (;;) {
    const answer = await poll()
    if (answer !== undefined) return answer
    if (performance.now() >= deadline) return undefined
    await pause(everyMs)
  }
}

import { setImmediate } from 'node:timers/promises'

/** How long work goes on before others get a turn; milliseconds. */
const longestTurnMs = 10

/**
 * Lets others have their turn between the steps of long work: to be awaited before each step, it waits only where the last
 * wait was too long ago.
 */
export function breath(): () => Promise<void> {
  let began = performance.now()
  return async () => {
    if (performance.now() - began < longestTurnMs) return
    await setImmediate()
    began = performance.now()
  }
}

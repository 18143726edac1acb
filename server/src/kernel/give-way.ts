import { setImmediate as nextTurn } from 'node:timers/promises'

/** How long one piece of work may keep the thread. */
const longestTurnMs = 10

/**
 * For work in many pieces on the one thread that everybody shares: what is answered is called between two pieces, and lets
 * whatever else waits run first when the turn has lasted long enough.
 */
export function givingWay(turnMs = longestTurnMs): () => Promise<void> {
  let began = performance.now()
  return async () => {
    if (performance.now() - began < turnMs) return
    await nextTurn()
    began = performance.now()
  }
}

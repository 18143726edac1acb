import { setImmediate as nextTurn } from 'node:timers/promises'

/** How long one piece of work may keep the thread. */
const longestTurnMs = 10

/** All who give way stand in one line: between two of their turns everybody else has one. */
let line: Promise<unknown> = Promise.resolve()

/**
 * For work in many pieces on the one thread that everybody shares: what is answered is called between two pieces, and lets
 * whatever else waits run first when the turn has lasted long enough.
 */
export function givingWay(turnMs = longestTurnMs): () => Promise<void> {
  let began = performance.now()
  return async () => {
    if (performance.now() - began < turnMs) return
    line = line.then(() => nextTurn())
    await line
    began = performance.now()
  }
}

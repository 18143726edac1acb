import { setImmediate as nextTurn } from 'node:timers/promises'

/** How long one piece of work may keep the thread. */
const maxPieceMs = 10

/** All who yield stand in one queue: between two of their pieces everybody else has a turn. */
let queue: Promise<unknown> = Promise.resolve()

/**
 * For work in many pieces on the one thread that everybody shares: the returned function is called between two pieces, and
 * yields to the event loop once the work has kept the thread for `pieceMs`.
 */
export function periodicYield(pieceMs = maxPieceMs): () => Promise<void> {
  let began = performance.now()
  return async () => {
    if (performance.now() - began < pieceMs) return
    queue = queue.then(() => nextTurn())
    await queue
    began = performance.now()
  }
}

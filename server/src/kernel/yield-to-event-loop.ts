import { setImmediate as nextTurn } from 'node:timers/promises'

/** How long one piece of work may occupy the thread. */
const maxPieceMs = 10

/** All callers that yield share one queue: between two of their pieces the event loop runs other work. */
let queue: Promise<unknown> = Promise.resolve()

/**
 * For long work on the one shared thread: call the returned function between two pieces of the work. It yields to the event
 * loop once the work has occupied the thread for `pieceMs`.
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

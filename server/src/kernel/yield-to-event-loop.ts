import { setImmediate as nextTurn } from 'node:timers/promises'
import { isMainThread } from 'node:worker_threads'
import { giveWay, restWhereCrowded } from './give-way.ts'

/** How long one piece of work may occupy the thread. */
const maxPieceMs = 10

/** All callers that yield share one queue: between two of their pieces the event loop runs other work. */
let queue: Promise<unknown> = Promise.resolve()

/**
 * For long work on the one shared thread: call the returned function between two pieces of the work. It yields to the event
 * loop once the work has occupied the thread for `pieceMs`. In a thread beside it, it also rests where others want the processor.
 */
export function periodicYield(pieceMs = maxPieceMs): () => Promise<void> {
  // Elsewhere, the time of a thread is not told, or in steps that are too long.
  const mayBeCrowded = !isMainThread && process.platform === 'linux'
  return periodically(pieceMs, mayBeCrowded ? restWhereCrowded() : noRest)
}

/** The same for long work that nobody waits for piece by piece: it gives way to urgent work, too. */
export function periodicGiveWay(pieceMs = maxPieceMs): () => Promise<void> {
  return periodically(pieceMs, giveWay)
}

const noRest = async () => undefined

function periodically(pieceMs: number, rest: (workedMs: number) => Promise<void>): () => Promise<void> {
  let began = performance.now()
  return async () => {
    const workedMs = performance.now() - began
    if (workedMs < pieceMs) return
    queue = queue.then(() => nextTurn())
    await queue
    await rest(workedMs)
    began = performance.now()
  }
}

import { periodicYield } from '../../kernel/yield-to-event-loop.ts'

/** Await it between small pieces of work, so that other work can run. */
export type Pauser = () => Promise<void>

const pieceMs = 5

/** For work with a time limit: throws once the work has taken longer. */
export function createPauser(maxMs: number): Pauser {
  const began = performance.now()
  const yieldToEventLoop = periodicYield(pieceMs)
  return async () => {
    await yieldToEventLoop()
    if (performance.now() - began > maxMs) throw new Error('it took too long')
  }
}

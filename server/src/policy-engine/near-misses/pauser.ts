import { periodicYield } from '../../kernel/yield-to-event-loop.ts'

/** To be awaited between small pieces of work: others get their turn. */
export type Pauser = () => Promise<void>

const pieceMs = 5

/** For work that nobody waits for longer than this: throws once it has taken so long. */
export function createPauser(maxMs: number): Pauser {
  const began = performance.now()
  const yieldToEventLoop = periodicYield(pieceMs)
  return async () => {
    await yieldToEventLoop()
    if (performance.now() - began > maxMs) throw new Error('it took too long')
  }
}

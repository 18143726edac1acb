import { setImmediate as nextTurn } from 'node:timers/promises'

/** To be awaited between small pieces of work: others get their turn. */
export type Pace = () => Promise<void>

const pieceMs = 5

/** Work that takes no longer than this: throws `OutOfTime` once it does. It holds the thread for a few milliseconds at a time. */
export function pace(longestMs: number): Pace {
  const began = performance.now()
  let resumed = began
  return async () => {
    if (performance.now() - resumed < pieceMs) return
    await nextTurn()
    resumed = performance.now()
    if (resumed - began > longestMs) throw new OutOfTime()
  }
}

class OutOfTime extends Error {
  constructor() {
    super('it took too long')
    this.name = 'OutOfTime'
  }
}

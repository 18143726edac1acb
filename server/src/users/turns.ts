import { Problem } from '../kernel/errors.ts'

/** Runs a piece of work when its turn comes; answers what the work answers. */
export type InTurn = <Result>(work: () => Promise<Result>) => Promise<Result>

/**
 * A queue in which at most `places` pieces of work run at once; the others wait, first come, first served. With `longest`
 * of them waiting, one more is sent away at once: 503 `unavailable`, rather than an answer that comes too late for anybody.
 */
export function turns(places: number, longest = Number.POSITIVE_INFINITY): InTurn {
  let free = places
  const waiting: (() => void)[] = []

  return async (work) => {
    if (free === 0 && waiting.length >= longest)
      throw new Problem('unavailable', 'too many at once; try again in a moment')
    if (free === 0) await new Promise<void>((begin) => waiting.push(begin))
    else free -= 1
    try {
      return await work()
    } finally {
      // The place is handed on, not given back and taken again: nobody can slip in between.
      const next = waiting.shift()
      if (next === undefined) free += 1
      else next()
    }
  }
}

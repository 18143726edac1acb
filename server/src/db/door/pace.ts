import type { Statement } from '../../kernel/context.ts'

/**
 * A statement that takes longer on the server than this goes by a connection of its own: those behind it would feel it, and
 * side by side several of them get more out of the server than in a row.
 */
const quickMs = 0.25
/** Measured again each time it was used this often: tables grow, and caches warm. */
const measureEvery = { quick: 32, slow: 8 }
/** How much of the average each measurement is. */
const weight = 1 / 8
const mostStatements = 2_000

type Pace = { averageMs: number; uses: number }

/** `askClock` before and after a statement tells, in milliseconds, how long it took, by the server's own clock. */
export const askClock: Statement<{ ms: number }> = {
  text: 'select extract(epoch from clock_timestamp())::float8 * 1000 as ms',
  values: [],
}

/** Which statements are proven quick: until then one counts as slow. */
export class Paces {
  readonly #paces = new Map<string, Pace>()

  /** Counts the use. `isMeasured`: it is due to be timed. */
  ask({ text }: Statement): { isQuick: boolean; isMeasured: boolean } {
    const pace = this.#paces.get(text)
    if (pace === undefined) return { isQuick: false, isMeasured: true }
    pace.uses++
    const isQuick = pace.averageMs <= quickMs
    return { isQuick, isMeasured: pace.uses % (isQuick ? measureEvery.quick : measureEvery.slow) === 0 }
  }

  note({ text }: Statement, ms: number): void {
    const pace = this.#paces.get(text)
    if (pace !== undefined) {
      pace.averageMs += (ms - pace.averageMs) * weight
      return
    }
    if (this.#paces.size >= mostStatements) this.#paces.clear()
    this.#paces.set(text, { averageMs: ms, uses: 0 })
  }
}

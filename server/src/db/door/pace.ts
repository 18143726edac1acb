import type { Statement } from '../../kernel/context.ts'

/**
 * A statement that takes longer on the server than this goes by a connection of its own: those behind it would feel it, and
 * side by side several of them get more out of the server than in a row.
 */
const quickMs = 0.25
/** Measured again each time it was used this often: tables grow, and caches warm. */
const measureEvery = { quick: 32, slow: 8 }
const mostStatements = 2_000

/** The last three measurements, of which the middle one counts: a busy machine makes anything slow now and then. */
type Pace = { recentMs: number[]; uses: number }

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
    const { recentMs, uses } = pace
    const slowOnes = recentMs.filter((ms) => ms > quickMs).length
    const isQuick = recentMs.length - slowOnes >= 2
    // One slow measurement wants another soon.
    const isDoubtful = recentMs.length < 3 || (isQuick && (recentMs.at(-1) ?? 0) > quickMs)
    return { isQuick, isMeasured: isDoubtful || uses % (isQuick ? measureEvery.quick : measureEvery.slow) === 0 }
  }

  note({ text }: Statement, ms: number): void {
    const pace = this.#paces.get(text)
    if (pace !== undefined) {
      pace.recentMs.push(ms)
      if (pace.recentMs.length > 3) pace.recentMs.shift()
      return
    }
    if (this.#paces.size >= mostStatements) this.#paces.clear()
    this.#paces.set(text, { recentMs: [ms], uses: 0 })
  }
}

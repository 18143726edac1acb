import type { Statement } from '../../kernel/context.ts'

/**
 * A statement that takes longer on the server than this goes by a connection of its own: those behind it would feel it, and
 * side by side several of them get more out of the server than in a row.
 */
const quickMs = 0.5
/** A quick one is measured again each time it was used this often: tables grow. */
const measureEvery = 32
/** How much of the average each measurement is. */
const weight = 1 / 8
const mostStatements = 2_000

type Pace = { averageMs: number; uses: number }

/** `askClock` before and after a statement tells, in milliseconds, how long it took, by the server's own clock. */
export const askClock: Statement<{ ms: number }> = {
  text: 'select extract(epoch from clock_timestamp())::float8 * 1000 as ms',
  values: [],
}

const slow = { isQuick: false, isMeasured: true }
const quick = { isQuick: true, isMeasured: false }
const quickAndDue = { isQuick: true, isMeasured: true }

/** Which statements are proven quick: until then one counts as slow. */
export class Paces {
  readonly #paces = new Map<string, Pace>()

  /** Counts the use. `isMeasured`: it is due to be timed. */
  ask({ text }: Statement): { isQuick: boolean; isMeasured: boolean } {
    const pace = this.#paces.get(text)
    if (pace === undefined || pace.averageMs > quickMs) return slow
    pace.uses++
    return pace.uses % measureEvery === 0 ? quickAndDue : quick
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

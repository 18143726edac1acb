import type { Statement } from '../../kernel/context.ts'
import { createLruCache } from '../../kernel/lru-cache.ts'

/**
 * A statement that takes longer on the server than this goes by a connection of its own: those behind it would wait for it,
 * and the server runs several of them side by side.
 */
const maxQuickMs = 0.25
/** A statement is measured once in so many uses: tables grow, and caches warm. */
const measureEvery = { quick: 32, slow: 8 }
/** So many statements are remembered, and at most twice as many. */
const maxStatements = 1_000

/** The last three measurements. The middle one counts: on a busy machine any statement is slow now and then. */
type Latency = { recentMs: number[]; uses: number }

/** Sent before and after a statement: how long it took, by the server's own clock. */
export const readServerClock: Statement<{ ms: number }> = {
  text: 'select extract(epoch from clock_timestamp())::float8 * 1000 as ms',
  values: [],
}

/** Which statements are quick, as measured: one that was not measured yet counts as slow. */
export class QueryLatency {
  readonly #latencies = createLruCache<Latency>(maxStatements)

  /** Counts a use. `isDue`: the statement is to be measured. */
  use({ text }: Statement): { isQuick: boolean; isDue: boolean } {
    const latency = this.#latencies.get(text)
    if (latency === undefined) return { isQuick: false, isDue: true }
    latency.uses++
    const { recentMs, uses } = latency
    const slow = recentMs.filter((ms) => ms > maxQuickMs).length
    const isQuick = recentMs.length - slow >= 2
    // One slow measurement asks for another soon.
    const isDoubtful = recentMs.length < 3 || (isQuick && (recentMs.at(-1) ?? 0) > maxQuickMs)
    return { isQuick, isDue: isDoubtful || uses % (isQuick ? measureEvery.quick : measureEvery.slow) === 0 }
  }

  add({ text }: Statement, ms: number): void {
    const latency = this.#latencies.get(text) ?? { recentMs: [], uses: 0 }
    latency.recentMs.push(ms)
    if (latency.recentMs.length > 3) latency.recentMs.shift()
    this.#latencies.set(text, latency)
  }
}

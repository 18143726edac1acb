import { createLruCache } from '../../kernel/lru-cache.ts'
import type { WireStatement } from './batch.ts'

/**
 * A statement that takes longer on the server than this gets a connection of its own: statements behind it would have to wait,
 * and the server runs several such statements in parallel.
 */
const maxQuickMs = 0.25
/** A statement is measured once in this many uses, because tables grow and caches warm up. */
const measureEvery = { quick: 32, slow: 8 }
/** The latency of at least this many statements is kept, and of at most twice as many. */
const maxStatements = 1_000

/** The last three measurements. The median counts, because on a busy machine any statement is slow now and then. */
type Latency = { recentMs: number[]; uses: number }

/** Sent before and after a statement to measure its duration by the server's own clock. */
export const readServerClock: WireStatement = {
  text: 'select extract(epoch from clock_timestamp())::float8 * 1000 as ms',
  values: [],
}

/** Knows from measurements which statements are quick. A statement that was not measured yet counts as slow. */
export class QueryLatency {
  readonly #latencies = createLruCache<Latency>(maxStatements)

  /** Counts a use. `isDue`: the statement is to be measured. */
  use({ text }: WireStatement): { isQuick: boolean; isDue: boolean } {
    const latency = this.#latencies.get(text)
    if (latency === undefined) return { isQuick: false, isDue: true }
    latency.uses++
    const { recentMs, uses } = latency
    const slow = recentMs.filter((ms) => ms > maxQuickMs).length
    const isQuick = recentMs.length - slow >= 2
    // A slow measurement is repeated soon.
    const isDoubtful = recentMs.length < 3 || (isQuick && (recentMs.at(-1) ?? 0) > maxQuickMs)
    return { isQuick, isDue: isDoubtful || uses % (isQuick ? measureEvery.quick : measureEvery.slow) === 0 }
  }

  add({ text }: WireStatement, ms: number): void {
    const latency = this.#latencies.get(text) ?? { recentMs: [], uses: 0 }
    latency.recentMs.push(ms)
    if (latency.recentMs.length > 3) latency.recentMs.shift()
    this.#latencies.set(text, latency)
  }
}

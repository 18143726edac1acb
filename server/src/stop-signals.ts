import type { Say } from './log/log.ts'

/** A signal again within this time is the same wish: npm passes on what its child got already, from Ctrl-C or from `timeout`. */
const sameWishMs = 1_000

const signals = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const

/**
 * Follows the signals by which a supervisor, a terminal or npm asks for a stop, from now on. The first one aborts what is returned. A
 * second one ends the process at once, and so do `maxMs` milliseconds after the first.
 */
export function followStopSignals(say: Say, maxMs: number): AbortSignal {
  const stopping = new AbortController()
  let askedAt: number | undefined
  const onSignal = (signal: NodeJS.Signals) => {
    if (askedAt !== undefined) {
      if (performance.now() - askedAt > sameWishMs) process.exit(1)
      return
    }
    askedAt = performance.now()
    say(`${signal}: finishing the work in flight`)
    setTimeout(() => process.exit(1), maxMs).unref()
    stopping.abort(new Error(`stopped by ${signal}`))
  }
  for (const signal of signals) process.on(signal, onSignal)
  return stopping.signal
}

import type { Say } from './log/log.ts'

/** A signal again within this time is the same wish: npm passes on what its child got already, from Ctrl-C or from `timeout`. */
const sameWishMs = 1_000

const stopSignals = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const

/** The process, for a test another one. */
export type Host = {
  on(signal: NodeJS.Signals, act: (signal: NodeJS.Signals) => void): unknown
  exit(code: number): unknown
  /** Milliseconds. */
  now(): number
}

const here: Host = {
  on: (signal, act) => process.on(signal, act),
  exit: (code) => process.exit(code),
  now: () => performance.now(),
}

/**
 * Follows the signals by which a supervisor, a terminal or npm asks for a stop, from now on. The first one aborts what is returned. A
 * second one ends the process at once, and so do `maxMs` milliseconds after the first.
 */
export function followStopSignals(say: Say, maxMs: number, host = here): AbortSignal {
  const stopping = new AbortController()
  let askedAt: number | undefined
  const onSignal = (signal: NodeJS.Signals) => {
    if (askedAt !== undefined) {
      if (host.now() - askedAt > sameWishMs) host.exit(1)
      return
    }
    askedAt = host.now()
    say(`${signal}: finishing the work in flight`)
    setTimeout(() => host.exit(1), maxMs).unref()
    stopping.abort(new Error(`stopped by ${signal}`))
  }
  for (const signal of stopSignals) host.on(signal, onSignal)
  return stopping.signal
}

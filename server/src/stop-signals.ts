import { isRunByNpm } from './config/run-by-npm.ts'
import type { Say } from './log/log.ts'

/** A signal again within this time is the same wish: npm passes on what its child got already, from Ctrl-C or from `timeout`. */
const sameWishMs = 1_000

/** How often the parent is looked for: its end sends no signal. */
const parentEveryMs = 500

const stopSignals = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const

/** The process, for a test another one. */
export type Host = {
  on(signal: NodeJS.Signals, act: (signal: NodeJS.Signals) => void): unknown
  exit(code: number): unknown
  /** Milliseconds. */
  now(): number
  /** The process that started this one, where its end is a wish to stop. */
  parent(): number | undefined
}

const here: Host = {
  on: (signal, act) => process.on(signal, act),
  exit: (code) => process.exit(code),
  now: () => performance.now(),
  parent: () => (isRunByNpm() ? process.ppid : undefined),
}

/**
 * Follows the signals by which a supervisor, a terminal or npm asks for a stop, from now on. The first one aborts what is returned. A
 * second one ends the process at once, and so do `maxMs` milliseconds after the first. The end of npm's shell counts as a signal: npm
 * signals the shell, which ends without passing it on.
 */
export function followStopSignals(say: Say, maxMs: number, host = here): AbortSignal {
  const stopping = new AbortController()
  let askedAt: number | undefined
  const ask = (by: string) => {
    if (askedAt !== undefined) {
      if (host.now() - askedAt > sameWishMs) host.exit(1)
      return
    }
    askedAt = host.now()
    say(`${by}: finishing the work in flight`)
    setTimeout(() => host.exit(1), maxMs).unref()
    stopping.abort(new Error(`stopped by ${by}`))
  }
  for (const signal of stopSignals) host.on(signal, ask)
  const parent = host.parent()
  const watch = setInterval(() => {
    if (host.parent() === parent) return
    clearInterval(watch)
    ask('npm has ended')
  }, parentEveryMs).unref()
  return stopping.signal
}

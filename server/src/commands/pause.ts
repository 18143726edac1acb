import { setTimeout } from 'node:timers/promises'

/** Does work that pauses for so many milliseconds, again and again. */
export type WithPauses = <Result>(work: (pause: (ms: number) => Promise<void>) => Promise<Result>) => Promise<Result>

/**
 * Ctrl-C ends the work at its next pause with an error, so that the command can say what is left to do and stop the database that it
 * started; a second Ctrl-C ends the command at once.
 */
export const withPauses: WithPauses = async (work) => {
  const stopping = new AbortController()
  const onSignal = (signal: string) => stopping.abort(new Error(`stopped by ${signal}`))
  const pause = (ms: number) =>
    setTimeout(ms, undefined, { signal: stopping.signal }).catch(() => {
      throw stopping.signal.reason
    })
  const signals = ['SIGINT', 'SIGTERM'] as const
  for (const signal of signals) process.once(signal, onSignal)
  try {
    return await work(pause)
  } finally {
    for (const signal of signals) process.off(signal, onSignal)
  }
}

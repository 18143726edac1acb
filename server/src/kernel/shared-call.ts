import { withinDeadline } from './deadline.ts'

/**
 * One call at a time, for what many ask at once: who asks meanwhile gets the outcome of the call that is under way. Each waits for
 * `ms` milliseconds at most, and then gets what `onTimeout` returns, so that a call that hangs holds up nobody.
 */
export function sharedCall<Result>(
  ms: number,
  call: () => Promise<Result>,
  onTimeout: () => Result,
): () => Promise<Result> {
  let pending: Promise<Result> | undefined
  return () => {
    pending ??= call().finally(() => {
      pending = undefined
    })
    const outcome = pending
    return withinDeadline(ms, () => outcome, onTimeout)
  }
}

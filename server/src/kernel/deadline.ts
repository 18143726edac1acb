/** A signal that follows another after `ms` milliseconds. It keeps no process alive. */
export function abortedAfter(signal: AbortSignal, ms: number): AbortSignal {
  const later = new AbortController()
  signal.addEventListener('abort', () => setTimeout(() => later.abort(), ms).unref(), { once: true })
  return later.signal
}

/**
 * Waits for the work for `ms` milliseconds; then aborts its signal and returns or throws what `onTimeout` does. A later result
 * or error of the work is dropped. The timer ends with the work; `AbortSignal.timeout` would keep a timer for each completed call.
 */
export async function withinDeadline<Result>(
  ms: number,
  work: (signal: AbortSignal) => Promise<Result>,
  onTimeout: () => Result,
): Promise<Result> {
  const controller = new AbortController()
  const { promise: timeIsUp, resolve } = Promise.withResolvers<void>()
  const timer = setTimeout(resolve, ms)
  try {
    const done = await Promise.race([timeIsUp, work(controller.signal).then((result) => ({ result }))])
    if (done !== undefined) return done.result
    controller.abort()
    return onTimeout()
  } finally {
    clearTimeout(timer)
  }
}

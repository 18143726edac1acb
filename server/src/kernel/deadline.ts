/**
 * Waits for the work until `ms` have passed; then aborts its signal and answers or throws what `onTimeout` does. What the work
 * answers or throws after that is dropped. The timer ends with the work: `AbortSignal.timeout` would keep one for each call
 * that is long done.
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

/** The parts of a connection (a `Socket`) that tell whether its answers are read. */
type Output = {
  readonly writableLength: number
  on(event: 'drain' | 'close', listener: () => void): unknown
  destroy(): unknown
}

export type UnreadAnswers = {
  /** Watches a connection until it is closed. */
  watch(output: Output): void
  /** Closes the connections that have held unread output for longer than the limit. `now`: milliseconds of a monotonic clock. */
  check(now: number): void
}

/**
 * Closes connections whose caller does not read, or reads so slowly that output stays in memory for longer than `limitMs`.
 * A caller who reads a few bytes at a time is never idle, so a timeout of idle connections does not catch it. A long stream
 * to a good reader drains again and again.
 */
export function openUnreadAnswers(limitMs: number): UnreadAnswers {
  /** When each connection was first seen with output that has not drained since; undefined while it has none. */
  const unreadSince = new Map<Output, number | undefined>()
  return {
    watch(output) {
      unreadSince.set(output, undefined)
      output.on('drain', () => unreadSince.set(output, undefined))
      output.on('close', () => unreadSince.delete(output))
    },
    check(now) {
      for (const [output, since] of unreadSince) {
        if (output.writableLength === 0) unreadSince.set(output, undefined)
        else if (since === undefined) unreadSince.set(output, now)
        else if (now - since > limitMs) output.destroy()
      }
    },
  }
}

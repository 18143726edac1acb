import { withinDeadline } from '../kernel/deadline.ts'
import { TargetError } from './driver.ts'

/**
 * Waits for a target's answer. A call longer than `maxMs` counts as a transient failure, whether or not it reacts to the
 * signal. It may still have a late effect.
 */
export function inTime<Answer>(maxMs: number, call: (signal: AbortSignal) => Promise<Answer>): Promise<Answer> {
  return withinDeadline(maxMs, call, () => {
    throw new TargetError('transient', `the target did not answer within ${Math.ceil(maxMs / 1_000)} s`)
  })
}

/** How long a call to a target may take. */
export const maxCallMs = 30_000

/** The pages of a target's list, each of which may take `maxMs`. The list is aborted when the caller stops reading. */
export async function* pagesInTime<Page>(
  maxMs: number,
  list: (signal: AbortSignal) => AsyncIterable<Page>,
): AsyncGenerator<Page> {
  const reading = new AbortController()
  const iterator = list(reading.signal)[Symbol.asyncIterator]()
  try {
    for (;;) {
      const next = await inTime(maxMs, () => iterator.next())
      if (next.done) return
      yield next.value
    }
  } finally {
    // Not awaited: a call that hangs would hang here too.
    reading.abort()
    void iterator.return?.().catch(() => undefined)
  }
}

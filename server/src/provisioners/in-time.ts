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

/**
 * The pages of a target's list, each of which may take `maxMs`. The list is aborted when the caller stops reading. `ended`: the reading is to give
 * way to that of others, which counts as a transient failure.
 */
export async function* pagesInTime<Page>(
  maxMs: number,
  list: (signal: AbortSignal) => AsyncIterable<Page>,
  ended?: AbortSignal,
): AsyncGenerator<Page> {
  const reading = new AbortController()
  const iterator = list(reading.signal)[Symbol.asyncIterator]()
  try {
    for (;;) {
      const next = await inTime(maxMs, () => unlessEnded(iterator.next(), ended))
      if (next.done) return
      yield next.value
    }
  } finally {
    // Not awaited: a call that hangs would hang here too.
    reading.abort()
    void iterator.return?.().catch(() => undefined)
  }
}

/** No promise of the whole list is raced with its pages: it would keep each of them until the list ends. */
function unlessEnded<Answer>(answer: Promise<Answer>, ended: AbortSignal | undefined): Promise<Answer> {
  if (ended === undefined) return answer
  return new Promise((resolve, reject) => {
    const end = () =>
      reject(new TargetError('transient', 'the target lists too slowly, and others wait: its list is read again later'))
    if (ended.aborted) end()
    else ended.addEventListener('abort', end)
    answer.then(resolve, reject).finally(() => ended.removeEventListener('abort', end))
  })
}

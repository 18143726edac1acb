/** Long work as a generator: it yields where it may be left for a while, so that nobody else waits for all of it. */
import { periodicYield } from '../../kernel/yield-to-event-loop.ts'

/** Does it all, now. */
export function atOnce<Result>(work: Generator<undefined, Result>): Result {
  for (;;) {
    const step = work.next()
    if (step.done === true) return step.value
  }
}

/** Does it in pieces, between which other work goes on. */
export async function inPieces<Result>(work: Generator<undefined, Result>): Promise<Result> {
  const yieldToEventLoop = periodicYield()
  for (;;) {
    const step = work.next()
    if (step.done === true) return step.value
    await yieldToEventLoop()
  }
}

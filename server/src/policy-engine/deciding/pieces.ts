/** Long work as a generator. It yields where it may pause, so that other work does not wait for all of it. */
import { periodicYield } from '../../kernel/yield-to-event-loop.ts'

/** Does all the work at once. */
export function atOnce<Result>(work: Generator<undefined, Result>): Result {
  for (;;) {
    const step = work.next()
    if (step.done === true) return step.value
  }
}

/** Does the work in pieces; other work runs between them. */
export async function inPieces<Result>(work: Generator<undefined, Result>): Promise<Result> {
  const yieldToEventLoop = periodicYield()
  for (;;) {
    const step = work.next()
    if (step.done === true) return step.value
    await yieldToEventLoop()
  }
}

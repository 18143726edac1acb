import type { Operation } from './history.ts'
import type { Life, Step } from './lives.ts'
import { hasOrder } from './order.ts'

/**
 * The fewest operations of a life whose answers contradict one another, of a life that has no order: the first two if two do, else as many
 * as cannot be fewer. Of all other operations nothing is believed but that they were sent.
 */
export function shortestContradiction(life: Life): readonly Operation[] {
  const answered = life.steps.filter(({ operation }) => Number.isFinite(operation.ended))
  const byEnd = answered.toSorted((one, other) => one.operation.ended - other.operation.ended)
  const contradict = (steps: readonly Step[]) => !hasOrder(life, (step) => steps.includes(step))
  for (const [nth, last] of byEnd.entries()) {
    if (contradict([last])) return operationsOf([last])
    // The nearest before it first: that is the easiest to read.
    const before = byEnd.slice(0, nth).toReversed()
    const first = before.find((step) => contradict([step, last]))
    if (first !== undefined) return operationsOf([first, last])
  }
  return operationsOf(withoutNeedless(byEnd, contradict))
}

/** Leaves out one after another as long as the rest contradicts itself: large parts first. */
function withoutNeedless(steps: readonly Step[], contradict: (steps: readonly Step[]) => boolean): readonly Step[] {
  let kept = steps
  for (let size = Math.ceil(steps.length / 2); size > 0; size = size === 1 ? 0 : Math.ceil(size / 2)) {
    for (let at = 0; at < kept.length; ) {
      const fewer = kept.toSpliced(at, size)
      if (contradict(fewer)) kept = fewer
      else at += size
    }
  }
  return kept
}

function operationsOf(steps: readonly Step[]): Operation[] {
  return steps.map(({ operation }) => operation).toSorted((one, other) => one.began - other.began)
}

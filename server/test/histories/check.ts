import { fieldViolations } from './fields.ts'
import type { Operation, Violation } from './history.ts'
import { type Life, livesOf } from './lives.ts'
import { hasOrder } from './order.ts'
import { shortestContradiction } from './shortest.ts'

/** Everything in a history that contradicts what the service promises; see `history.ts`. */
export function findViolations(operations: readonly Operation[]): Violation[] {
  return [...fieldViolations(operations), ...livesOf(operations).flatMap(orderViolations)]
}

function orderViolations(life: Life): Violation[] {
  if (hasOrder(life)) return []
  const operations = shortestContradiction(life)
  const ids = life.objects.map(({ kind, id }) => `the ${kind} ${id}`).join(', ')
  return [{ rule: 'one order', what: `no order of the calls explains these answers about ${ids}`, operations }]
}

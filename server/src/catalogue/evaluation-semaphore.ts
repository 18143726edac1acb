/** How many batches are evaluated at once. */
import { Problem } from '../kernel/errors.ts'
import { createSemaphore } from '../kernel/semaphore.ts'

const maxWaitMs = 10_000

/** One batch of a caller at a time, so that a caller with many calls takes one place among those of the tenant. */
const callerBatches = createSemaphore({
  limit: 1,
  maxWaiting: 3,
  maxWaitMs,
  refusal: () =>
    new Problem('unavailable', 'too many of your calls wait for what you may request; wait for their replies'),
})

/** One batch of a tenant at a time. Between two pieces of it, the event loop runs other work: that of other tenants too. */
const tenantBatches = createSemaphore({
  limit: 1,
  maxWaiting: 100,
  maxWaitMs,
  refusal: () =>
    new Problem('unavailable', 'too many calls of this tenant wait for what they may request; try again in a moment'),
})

/**
 * Evaluates a batch when it is its turn: one of the caller, then one of the tenant.
 * @throws Problem 503 when too many of either wait, or for too long
 */
export function evaluateInTurn<Result>(
  { tenant_id, user_id }: { tenant_id: string; user_id: string },
  work: () => Promise<Result>,
): Promise<Result> {
  return callerBatches.run(() => tenantBatches.run(work, { key: tenant_id }), { key: `${tenant_id} ${user_id}` })
}

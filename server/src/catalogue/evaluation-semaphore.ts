/** How many batches are evaluated at once. */
import { callerTurns, maxTurnWaitMs, oneOfEachCaller } from '../kernel/caller-turns.ts'
import { Problem } from '../kernel/errors.ts'
import { createSemaphore } from '../kernel/semaphore.ts'

const callerBatches = oneOfEachCaller(
  () => new Problem('unavailable', 'too many of your calls wait for what you may request; wait for their replies'),
)

/** One batch of a tenant at a time. Between two pieces of it, the event loop runs other work: that of other tenants too. */
const tenantBatches = createSemaphore({
  limit: 1,
  maxWaiting: 100,
  maxWaitMs: maxTurnWaitMs,
  refusal: () =>
    new Problem('unavailable', 'too many calls of this tenant wait for what they may request; try again in a moment'),
})

/**
 * Evaluates a batch when it is its turn: one of the caller, then one of the tenant.
 * @throws Problem 503 when too many of either wait, or for too long
 */
export const evaluateInTurn = callerTurns(callerBatches, tenantBatches)

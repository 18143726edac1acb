import { callerTurns, maxTurnWaitMs, oneOfEachCaller } from '../kernel/caller-turns.ts'
import { Problem } from '../kernel/errors.ts'
import { createSemaphore } from '../kernel/semaphore.ts'

const refusal = () =>
  new Problem('unavailable', 'too many long questions to policy are under way; try again in a moment')

const ofCallers = oneOfEachCaller(refusal)

/**
 * Turns for work that evaluates policy for many requests, or for many people: two at a time for a tenant, one for a person. Tenants do not wait
 * for each other. Of a tenant, one kind of work has its turns beside the other.
 * @throws Problem 503 when too many wait, or for too long
 */
function tenantTurns() {
  const options = { limit: 2, totalLimit: 8, maxWaiting: 50, maxWaitMs: maxTurnWaitMs, refusal }
  return callerTurns(ofCallers, createSemaphore(options))
}

/** Of approvers: what they may decide. */
export const inboxTurns = tenantTurns()
/** Of requesters: who may decide, and how long access could last. */
export const previewTurns = tenantTurns()

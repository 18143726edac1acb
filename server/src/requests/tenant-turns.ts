import { Problem } from '../kernel/errors.ts'
import { createSemaphore } from '../kernel/semaphore.ts'

const refusal = () =>
  new Problem('unavailable', 'too many long questions to policy are under way; try again in a moment')

/** One call of a person at a time: however many they send, they take one of their tenant's turns, and leave the others to others. */
const ofCallers = createSemaphore({ limit: 1, maxWaiting: 3, maxWaitMs: 10_000, refusal })

/** Runs the work of a caller when it is their turn, and their tenant's. */
export type TenantTurns = <Result>(
  caller: { tenant_id: string; user_id: string },
  work: () => Promise<Result>,
) => Promise<Result>

/**
 * Turns for work that evaluates policy for many requests, or for many people: two at a time for a tenant, one for a person. Tenants do not wait
 * for each other, nor does one kind of work for another.
 * @throws Problem 503 when too many wait, or for too long
 */
function tenantTurns(): TenantTurns {
  const ofTenants = createSemaphore({ limit: 2, totalLimit: 8, maxWaiting: 50, maxWaitMs: 10_000, refusal })
  return ({ tenant_id, user_id }, work) =>
    ofCallers.run(() => ofTenants.run(work, { key: tenant_id }), { key: `${tenant_id} ${user_id}` })
}

/** Of approvers: what they may decide. */
export const inboxTurns = tenantTurns()
/** Of requesters: who may decide, and how long access could last. */
export const previewTurns = tenantTurns()

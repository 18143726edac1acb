import { Problem } from '../kernel/errors.ts'
import { createSemaphore } from '../kernel/semaphore.ts'

const turns = createSemaphore({
  limit: 2,
  totalLimit: 8,
  maxWaiting: 50,
  refusal: () =>
    new Problem('unavailable', 'your tenant asks too many long questions to policy at once; try again in a moment'),
})

/**
 * Runs work that evaluates policy for many requests, or for many people: two at a time for a tenant, and those of other tenants do not wait
 * for them.
 * @throws Problem 503 when too many of the tenant wait
 */
export function inTenantTurn<Result>(tenant_id: string, work: () => Promise<Result>): Promise<Result> {
  return turns.run(work, { key: tenant_id })
}

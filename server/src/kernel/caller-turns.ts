import { createSemaphore, type Semaphore } from './semaphore.ts'

/** A caller who has waited so long for a turn is refused. */
export const maxTurnWaitMs = 10_000

/** Runs the work of a caller when it is their turn, and then their tenant's. */
export type CallerTurns = <Result>(
  caller: { tenant_id: string; user_id: string },
  work: () => Promise<Result>,
) => Promise<Result>

/** One work of a caller at a time, and three that wait. */
export function oneOfEachCaller(refusal: () => Error): Semaphore {
  return createSemaphore({ limit: 1, maxWaiting: 3, maxWaitMs: maxTurnWaitMs, refusal })
}

/**
 * Turns among callers, then among tenants. However much work a caller sends, they take one of their tenant's turns, and leave the others to
 * others.
 */
export function callerTurns(ofCallers: Semaphore, ofTenants: Semaphore): CallerTurns {
  return ({ tenant_id, user_id }, work) =>
    ofCallers.run(() => ofTenants.run(work, { key: tenant_id }), { key: `${tenant_id} ${user_id}` })
}

import { refuseSampled } from '../events/sample.ts'
import type { Tx, WorkCtx } from '../kernel/context.ts'
import { tenantSuspended } from '../kernel/errors.ts'
import { isInSuspendedTenant } from '../users/active-store.ts'

/**
 * INVARIANT: called only after what the caller presents was verified: who has no valid credential gets the answers of any other tenant.
 * @throws Problem 403 `tenant_suspended`
 */
export async function requireTenantGoesOn(tx: Tx): Promise<void> {
  if (await isInSuspendedTenant(tx)) throw tenantSuspended()
}

/** Refuses the sign-in of a user who proved who they are, and records it. */
export function refuseInSuspendedTenant(ctx: WorkCtx, user_id: string, source_ip: string): Promise<never> {
  const data = { cause: 'tenant_suspended', source_ip }
  return refuseSampled(ctx, tenantSuspended(), {
    ...{ type: 'auth.refused', subject_type: 'user' },
    ...{ subject_id: user_id, data },
  })
}

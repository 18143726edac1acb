import type { WorkCtx } from '../kernel/context.ts'
import type { EndedAccess } from '../users/lifecycle.ts'
import { lockHolders } from './access-holder-store.ts'
import { endAccessOfAll } from './transition-store.ts'

/** So many users at a time, in a transaction of their own: a tenant may have more access than one statement ends in its time. */
const usersAtOnce = 100

/**
 * Ends all pending requests and all grants of a tenant, a part at a time. For a tenant that gets nothing new, such as a suspended one:
 * otherwise it might not end.
 */
export async function endAccessOfTenant(ctx: WorkCtx, reason: string): Promise<EndedAccess> {
  const total = { requests_cancelled: 0, grants_ended: 0 }
  for (;;) {
    const ended = await ctx.tx.interactive(async (tx) => {
      const user_ids = await lockHolders(tx, usersAtOnce)
      if (user_ids.length === 0) return undefined
      const whose = { user_ids, account_ids: [] }
      return endAccessOfAll({ ...ctx, tx }, whose, { cancelled: reason, revoked: reason })
    })
    if (ended === undefined || ended.requests_cancelled + ended.grants_ended === 0) return total
    total.requests_cancelled += ended.requests_cancelled
    total.grants_ended += ended.grants_ended
  }
}

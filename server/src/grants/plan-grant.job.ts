import type { DueWork } from '../jobs/work-list.ts'
import { inTime, longestCallMs } from '../provisioners/in-time.ts'
import { type Provisioner, TargetError } from '../provisioners/provisioner.ts'
import { backoffMs } from './entitlement.ts'
import { findGrantToPlan, linkGrant, savePlanFailure } from './grant-store.ts'

/** Finds out what a new grant means to its target, and hangs it on that entitlement of the ledger. */
export function planGrant(provisionerFor: (resource_type: string) => Provisioner): DueWork {
  return {
    table: 'access_grant',
    async run(ctx, item) {
      const found = await findGrantToPlan(ctx.tx, item)
      if (found === undefined || !found.live) return
      if (found.late) return savePlanFailure(ctx, item, 'access could not be given in time', undefined)
      const provisioner = provisionerFor(found.ask.resource.type)
      try {
        await linkGrant(
          ctx.tx,
          item,
          provisioner.name,
          await inTime(longestCallMs, (signal) => provisioner.plan(ctx.tx, found.ask, signal)),
        )
      } catch (error) {
        if (!(error instanceof TargetError)) throw error
        const wait_ms = error.kind === 'permanent' ? undefined : backoffMs(found.failures, Math.random())
        await savePlanFailure(ctx, item, error.message, wait_ms)
      }
    },
  }
}

import type { Bounds } from '../jobs/in-flight.ts'
import type { DueWork } from '../jobs/work-list.ts'
import { noteUrgentWork } from '../kernel/give-way.ts'
import { NotNow, type PlanInput, TargetError } from '../provisioners/driver.ts'
import type { Drivers, ProvisionerRef } from '../provisioners/drivers.ts'
import { inTime, maxCallMs } from '../provisioners/in-time.ts'
import { noSandboxInLive } from '../provisioners/provisioner.ts'
import { findGrantToPlan, linkGrant } from './batched-entitlement-store.ts'
import { backoffMs, saysDisabled, waitMs } from './entitlement.ts'
import { giveUpPlan, postponePlan, type Serving, savePlanFailure } from './plan-store.ts'

/** Many rows share a round trip. */
const bounds: Bounds = { width: 256, perTenant: 256 }

/** Finds out what a new grant means at its target, and links it to that entitlement of the ledger. */
export function planGrant(drivers: Drivers): DueWork {
  return {
    table: 'access_grant',
    isPrompt: true,
    bounds,
    async run(ctx, item) {
      noteUrgentWork()
      const found = await findGrantToPlan(ctx.tx, item)
      if (found === undefined || !found.live) return
      if (found.late) return giveUpPlan(ctx, item, 'miss_deadline', 'access could not be given in time')
      if (found.rehearsed) return giveUpPlan(ctx, item, 'reject', 'it was approved in the rehearsal, which is over')
      try {
        const serving = requireServing(found.serving, found.input)
        const driver = await drivers.of(ctx.tx, serving)
        const plan = await inTime(maxCallMs, (signal) => driver.plan(ctx.tx, found.input, signal))
        const outcome = await linkGrant(ctx.tx, { item, ref: serving, plan })
        // Its provisioner changed during planning: plan again at once.
        if (outcome === 'provisioner_changed') await postponePlan(ctx.tx, item, 0)
      } catch (error) {
        if (error instanceof NotNow) return postponePlan(ctx.tx, item, waitMs(error.after_ms), error.why)
        if (!(error instanceof TargetError)) throw error
        if (error.kind === 'permanent') return giveUpPlan(ctx, item, 'reject', error.message)
        await savePlanFailure(ctx.tx, item, error.message, backoffMs(found.failures, Math.random()))
      }
    },
  }
}

/** The provisioner that gives the access. A live tenant never falls back to the sandbox. */
function requireServing(serving: Serving, input: PlanInput): ProvisionerRef {
  const { provisioner, provisioner_id, provisioner_version, enabled, by_sandbox } = serving
  if (provisioner === 'sandbox' && !by_sandbox) throw new TargetError('permanent', noSandboxInLive)
  if (provisioner !== null && provisioner_id !== null) {
    if (enabled) return { provisioner, provisioner_id, provisioner_version }
    throw new TargetError('transient', saysDisabled)
  }
  if (by_sandbox) return { provisioner: 'sandbox', provisioner_id: null, provisioner_version: null }
  const where = input.account_id === null ? '' : ` in the account ${input.account_id}`
  throw new TargetError(
    'permanent',
    `no provisioner serves \`${input.resource.type}\`${where}: set one up under /v1/provisioners`,
  )
}

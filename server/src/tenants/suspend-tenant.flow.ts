import type { Database } from '../db/transaction.ts'
import type { WorkCtx } from '../kernel/context.ts'
import { isName, nameRule } from '../kernel/one-line-name.ts'
import type { EndedAccess } from '../users/lifecycle.ts'
import { operatorCtx } from './create-tenant.flow.ts'
import { requireTenant } from './named-tenant.flow.ts'
import { endSuspension, findSuspension, type Suspension, saveSuspension } from './suspension-store.ts'

const maxReasonLength = 500

/** Ends all requests and all access of a tenant. It is passed in, because requests and grants know tenants, not the other way round. */
export type EndAccessOfTenant = (ctx: WorkCtx, reason: string) => Promise<EndedAccess>

/** How the operator suspends a tenant. `endAccess`: also ends what it requested and holds; otherwise its access ends at its time. */
export type Suspending = { reason?: string | undefined; endAccess?: EndAccessOfTenant | undefined }

/** `changed`: false when the tenant was suspended already, and `since` when. `ended`: undefined where nothing was to be ended. */
export type SuspendedTenant = Suspension & { tenant_id: string; changed: boolean; ended: EndedAccess | undefined }

/**
 * Suspends a tenant: none of its credentials is of use, and nothing new is given, until it is resumed. Access ends after the suspension is
 * committed, so that none is added meanwhile; if that is interrupted, it can be done again.
 * @throws Error with a message for an unknown tenant, and for an invalid reason
 */
export async function suspendTenant(
  database: Database,
  named: string,
  { reason, endAccess }: Suspending,
): Promise<SuspendedTenant> {
  const fault = reason === undefined ? undefined : reasonFault(reason)
  if (fault !== undefined) throw new Error(`--reason ${fault}`)
  const tenant_id = await requireTenant(database, named)
  const ctx = operatorCtx(database.tenant(tenant_id))
  const changed = await saveSuspension(ctx, reason ?? null)
  const suspension = await findSuspension(ctx.tx)
  if (suspension === undefined) throw new Error('the tenant was resumed meanwhile; suspend it again')
  if (endAccess === undefined) return { tenant_id, changed, ...suspension, ended: undefined }
  return { tenant_id, changed, ...suspension, ended: await endAll(ctx, endAccess) }
}

function endAll(ctx: WorkCtx, endAccess: EndAccessOfTenant): Promise<EndedAccess> {
  return endAccess(ctx, 'the operator suspended this tenant and ended its access')
}

function reasonFault(reason: string): string | undefined {
  if (!isName(reason)) return nameRule
  return [...reason].length > maxReasonLength ? `has more than ${maxReasonLength} characters; shorten it` : undefined
}

/**
 * Resumes a suspended tenant; `changed` is false when it is not suspended.
 * @throws Error with a message for an unknown tenant
 */
export async function resumeTenant(
  database: Database,
  named: string,
): Promise<{ tenant_id: string; changed: boolean }> {
  const tenant_id = await requireTenant(database, named)
  return { tenant_id, changed: await endSuspension(operatorCtx(database.tenant(tenant_id))) }
}

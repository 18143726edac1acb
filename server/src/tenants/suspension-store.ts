import { sql } from '../db/sql.ts'
import { emit } from '../events/emit.ts'
import type { Tx, WorkCtx } from '../kernel/context.ts'

/** A suspension of a tenant by the operator. `reason`: null where the operator gave none. */
export type Suspension = { since: string; reason: string | null }

/** The suspension of the tenant; undefined when it is not suspended. */
export async function findSuspension(tx: Tx): Promise<Suspension | undefined> {
  const [found] = await tx.read(sql<Suspension>`select suspended_at as since, suspended_reason as reason from tenant
    where id = ${tx.tenant_id} and suspended_at is not null`)
  return found
}

/**
 * Suspends the tenant and emits the event; false when it is suspended already. The rules get their next version: what was evaluated
 * before, and is not stored or given yet, is evaluated again, and refused.
 */
export async function saveSuspension(ctx: WorkCtx, reason: string | null): Promise<boolean> {
  const { tenant_id } = ctx.tx
  const data = reason === null ? {} : { reason }
  const event = { type: 'tenant.suspended', subject_type: 'tenant', subject_id: tenant_id, data } as const
  const [saved] = await ctx.tx.write([
    sql`with changed as (
        update tenant set suspended_at = clock_timestamp(), suspended_reason = ${reason}::text,
          rule_set_version = rule_set_version + 1
        where id = ${tenant_id} and suspended_at is null returning id),
      emitted as (${emit(ctx, event, sql`changed`)})
      select id from changed`,
  ])
  return saved.length > 0
}

/** Ends the suspension of the tenant and emits the event; false when it is not suspended. The rules get their next version, as they count again. */
export async function endSuspension(ctx: WorkCtx): Promise<boolean> {
  const { tenant_id } = ctx.tx
  const event = { type: 'tenant.resumed', subject_type: 'tenant', subject_id: tenant_id } as const
  const [saved] = await ctx.tx.write([
    sql`with changed as (
        update tenant set suspended_at = null, suspended_reason = null, rule_set_version = rule_set_version + 1
        where id = ${tenant_id} and suspended_at is not null returning id),
      emitted as (${emit(ctx, event, sql`changed`)})
      select id from changed`,
  ])
  return saved.length > 0
}

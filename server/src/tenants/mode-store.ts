import { sql } from '../db/sql.ts'
import { emit } from '../events/emit.ts'
import type { Statement, Tx, WorkCtx } from '../kernel/context.ts'
import type { LiveCause, Mode } from './mode.ts'

/** The tenant's mode, as a value to embed in another statement. */
export function tenantMode({ tenant_id }: Tx): Statement {
  return sql`(select t.mode from tenant t where t.id = ${tenant_id})`
}

/** The mode that the tenant was in at that moment, to the millisecond, as a value to embed in another statement. */
export function tenantModeAt({ tenant_id }: Tx, at: string): Statement {
  return sql`(select case when date_trunc('milliseconds', t.live_since) <= ${at}::timestamptz then 'live'
    else 'rehearsal' end from tenant t where t.id = ${tenant_id})`
}

/** The tenant's mode, read with a statement of its own. */
export async function readMode(tx: Tx): Promise<Mode> {
  const [row] = await tx.read(sql<{ mode: Mode }>`select ${tenantMode(tx)} as mode`)
  return row?.mode ?? 'rehearsal'
}

/** For a tenant that goes live whatever it serves. */
export const anyCondition = sql`true`

/** Whether the tenant is in rehearsal and the condition holds: most changes of a provisioner have nobody go live, and lock nothing. */
export async function mayGoLive(tx: Tx, condition: Statement): Promise<boolean> {
  const rows = await tx.read(sql`select from tenant where ${inRehearsal(tx, condition)}`)
  return rows.length > 0
}

/**
 * Has the tenant go live if the condition holds. False if it does not, or if the tenant is live already. The rules get their next version:
 * a request that was evaluated in rehearsal, and is not stored yet, is evaluated again.
 */
export async function saveLive(tx: Tx, condition: Statement): Promise<boolean> {
  const [rows] = await tx.write([
    sql`update tenant set mode = 'live', live_since = clock_timestamp(), rule_set_version = rule_set_version + 1
      where ${inRehearsal(tx, condition)} returning id`,
  ])
  return rows.length > 0
}

function inRehearsal({ tenant_id }: Tx, condition: Statement): Statement {
  return sql`id = ${tenant_id} and mode = 'rehearsal' and ${condition}`
}

/** Emits that the tenant went live. `removed`: what its rehearsal had made; undefined: nothing. */
export async function emitWentLive(ctx: WorkCtx, cause: LiveCause, removed: object | undefined): Promise<void> {
  const { tenant_id } = ctx.tx
  const data = { cause, ...(removed !== undefined && { removed }) }
  await ctx.tx.write([emit(ctx, { type: 'tenant.went_live', subject_type: 'tenant', subject_id: tenant_id, data })])
}

import { sql } from '../db/sql.ts'
import { emit } from '../events/emit.ts'
import type { Statement, Tx, WorkCtx } from '../kernel/context.ts'
import type { Mode } from './mode.ts'

/** The tenant's mode, as a value to embed in another statement. */
export function tenantMode({ tenant_id }: Tx): Statement {
  return sql`(select t.mode from tenant t where t.id = ${tenant_id})`
}

/** The tenant's mode, read with a statement of its own. */
export async function readMode(tx: Tx): Promise<Mode> {
  const [row] = await tx.read(sql<{ mode: Mode }>`select ${tenantMode(tx)} as mode`)
  return row?.mode ?? 'rehearsal'
}

/** Has the tenant go live, with an event, if the condition holds. False if it does not, or if the tenant is live already. */
export async function goLive(
  ctx: WorkCtx,
  cause: 'operator' | 'provisioner',
  condition: Statement = sql`true`,
): Promise<boolean> {
  const { tenant_id } = ctx.tx
  const event = { type: 'tenant.went_live', subject_type: 'tenant', subject_id: tenant_id, data: { cause } } as const
  const [rows] = await ctx.tx.write([
    sql<{ id: string }>`with gone as (
        update tenant set mode = 'live', live_since = clock_timestamp()
        where id = ${tenant_id} and mode = 'rehearsal' and ${condition}
        returning id),
      emitted as (${emit(ctx, event, sql`gone`)})
      select id from gone`,
  ])
  return rows.length > 0
}

import { sql } from '../db/sql.ts'
import type { WorkItem } from '../jobs/claim.ts'
import type { Statement, Tx } from '../kernel/context.ts'
import type { Connect } from '../provisioners/connect.ts'
import { ours } from './entitlement-store.ts'

/** How the holder of the grant `g` connects: a `Connect`, as a column. Null once the grant is over, and while it is not known. */
export const connectColumn: Statement = sql`case when g.status in ('pending', 'active') then (select e.connect
  from entitlement e where e.tenant_id = g.tenant_id and e.id = g.entitlement_id) end as connect`

/** Keeps what the target said with an act, in place of what was known before. */
export async function saveConnect(tx: Tx, item: WorkItem, connect: Connect): Promise<void> {
  await tx.write([
    sql`update entitlement e set connect = ${JSON.stringify(connect)}::jsonb, updated_at = clock_timestamp()
      where ${ours(tx, item)}`,
  ])
}

import { sql } from '../db/sql.ts'
import type { WorkItem } from '../jobs/claim.ts'
import type { Tx } from '../kernel/context.ts'
import type { Sessions } from '../provisioners/driver.ts'
import { ours } from './entitlement-store.ts'

/** Keeps what the target said with a revoke about open sessions, in place of what the plan said. */
export async function saveSessions(tx: Tx, item: WorkItem, { seconds, note }: Sessions): Promise<void> {
  await tx.write([
    sql`update entitlement e set session_seconds = ${seconds}::integer, session_note = ${note}::text,
        updated_at = clock_timestamp()
      where ${ours(tx, item)}`,
  ])
}

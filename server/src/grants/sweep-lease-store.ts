import { sql } from '../db/sql.ts'
import type { WorkItem } from '../jobs/claim.ts'
import type { Statement, Tx } from '../kernel/context.ts'

/** The sweep `s` under its lease. INVARIANT: every write of a sweep has this or the next: a sweep that lost its lease writes nothing. */
export function stillSweeps(tx: Tx, item: WorkItem): Statement {
  return sql`s.tenant_id = ${tx.tenant_id} and s.id = ${item.id} and s.generation = ${item.generation}::bigint`
}

/** The same, for writes of other tables. */
export function isStillSwept(tx: Tx, item: WorkItem): Statement {
  return sql`exists (select from sweep s where ${stillSweeps(tx, item)})`
}

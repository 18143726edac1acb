import { sql } from '../db/sql.ts'
import type { Database } from '../db/transaction.ts'
import { workTables } from './claim.ts'

/**
 * Releases every lease that a killed process left, so that its work resumes at once and not only when the leases end.
 * INVARIANT: call it only in the sole process on its database, such as the owner of the embedded one. It increments the
 * generations, so a statement of the killed process that is still under way finds its lease lost.
 */
export async function releaseLeases(database: Database): Promise<void> {
  const tables = [...Object.values(workTables), sql`event_cursor`]
  await database.work.write(
    tables.map(
      (table) => sql`update ${table} set lease_until = null, generation = generation + 1 where lease_until is not null`,
    ),
  )
}

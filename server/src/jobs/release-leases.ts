import { sql } from '../db/sql.ts'
import type { Database } from '../db/transaction.ts'
import { workTables } from './claim.ts'

/**
 * Takes back every lease that a killed process left, so that its work is taken up at once rather than when they end.
 * INVARIANT: for the sole process on its database alone, as the owner of the embedded one is. The generations move on:
 * a statement of the dead that is still under way finds its lease lost.
 */
export async function releaseLeases(database: Database): Promise<void> {
  const tables = [...Object.values(workTables), sql`event_cursor`]
  await database.work.write(
    tables.map(
      (table) => sql`update ${table} set lease_until = null, generation = generation + 1 where lease_until is not null`,
    ),
  )
}

import { sql } from '../../db/sql.ts'
import type { Statement, Tx } from '../../kernel/context.ts'

/** Rows of one statement: it ends well before its time limit, also on a busy database. */
const rowsAtOnce = 20_000

/**
 * Ends what a directory says of its users, which are managed here from then on: in parts, since a large directory has millions of values. In the
 * transaction that deletes the provider.
 */
export async function clearDirectory(tx: Tx, identity_provider_id: string): Promise<void> {
  const theirs = sql`tenant_id = ${tx.tenant_id}::uuid and identity_provider_id = ${identity_provider_id}::uuid`
  for (const table of [sql`directory_value`, sql`directory_user`]) await clear(tx, table, theirs)
}

async function clear(tx: Tx, table: Statement, theirs: Statement): Promise<void> {
  for (let gone = rowsAtOnce; gone === rowsAtOnce; ) {
    const [rows] = await tx.write([
      sql<{ count: number }>`with gone as (
          delete from ${table} where ctid = any(array(select ctid from ${table} where ${theirs} limit ${rowsAtOnce}))
          returning 1)
        select count(*)::integer as count from gone`,
    ])
    gone = rows[0]?.count ?? 0
  }
}

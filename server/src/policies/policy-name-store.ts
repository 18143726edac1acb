import { sql } from '../db/sql.ts'
import type { Tx } from '../kernel/context.ts'

/** The names of these policies, by id. */
export async function findPolicyNames(tx: Tx, ids: readonly string[]): Promise<ReadonlyMap<string, string>> {
  if (ids.length === 0) return new Map()
  const rows = await tx.read(sql<{ id: string; name: string }>`select id, name from policy
    where tenant_id = ${tx.tenant_id} and id = any(${[...ids]}::uuid[])`)
  return new Map(rows.map(({ id, name }) => [id, name]))
}

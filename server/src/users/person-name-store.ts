import { sql } from '../db/sql.ts'
import type { Statement, Tx } from '../kernel/context.ts'

/** The name of a user, also of one who left, as one value to embed in another statement; null for no id. */
export function personName(tx: Tx, user_id: Statement): Statement {
  return sql`(select u.name from tenant_user u where u.tenant_id = ${tx.tenant_id}::uuid and u.id = ${user_id})`
}

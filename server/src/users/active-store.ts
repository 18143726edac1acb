import { sql } from '../db/sql.ts'
import type { Statement, Tx } from '../kernel/context.ts'

/** Whether the user is suspended now, by the database's clock. `u` names a row of tenant_user. */
export function isSuspended(u: Statement): Statement {
  return sql`coalesce(${u}.suspended_until > clock_timestamp(), false)`
}

/**
 * INVARIANT: code that asks whether a user may sign in, act, decide, hold access or be notified asks this, and not the column
 * `active` alone. `u` names a row of tenant_user.
 */
export function isActive(u: Statement): Statement {
  return sql`(${u}.active and not ${isSuspended(u)})`
}

/** Whether the operator suspended the tenant. `t` names a row of tenant. */
export function isTenantSuspended(t: Statement): Statement<boolean> {
  return sql<boolean>`(${t}.suspended_at is not null)`
}

/**
 * The same for the tenant of the transaction, read with a statement of its own. A tenant that is being deleted is not seen, and is
 * suspended: no row is a yes.
 */
export async function isInSuspendedTenant(tx: Tx): Promise<boolean> {
  const [row] = await tx.read(
    sql<{
      suspended: boolean
    }>`select ${isTenantSuspended(sql`t`)} as suspended from tenant t where t.id = ${tx.tenant_id}`,
  )
  return row?.suspended ?? true
}

import { sql } from '../db/sql.ts'
import type { Statement } from '../kernel/context.ts'

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

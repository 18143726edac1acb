import { sql } from '../db/sql.ts'
import type { Statement, Tx } from '../kernel/context.ts'

// Woven in as arrays: each is asked for by key, once, which costs a request least, however large the tenant.

/**
 * What counts not: whatever this person gave after that moment, be it a role, a membership, the role of a group, or a
 * further scope of a role. Values or columns.
 */
export type Discounted = { granted_by: Statement; after: Statement }

function counts(given_by: Statement, given_at: Statement, discounted: Discounted | undefined): Statement {
  if (discounted === undefined) return sql`true`
  return sql`not (${given_by} is not distinct from ${discounted.granted_by} and ${given_at} > ${discounted.after})`
}

/** The groups (`group_id`) that a user, a value or a column, belongs to: a select to weave into another statement. */
export function groupsHeld(tx: Tx, user_id: Statement, discounted?: Discounted): Statement {
  return sql`select gm.group_id from group_member gm
    where gm.tenant_id = ${tx.tenant_id}::uuid and gm.user_id = ${user_id}
      and ${counts(sql`gm.added_by`, sql`gm.created_at`, discounted)}`
}

/** The roles (`role_id`) of a user, own and by their groups. A role counts when one road to it does. */
export function rolesHeld(tx: Tx, user_id: Statement, discounted?: Discounted): Statement {
  return sql`select ur.role_id from user_role ur
    where ur.tenant_id = ${tx.tenant_id}::uuid and ur.user_id = ${user_id}
      and ${counts(sql`ur.granted_by`, sql`ur.granted_at`, discounted)}
    union select gr.role_id from group_role gr
    where gr.tenant_id = ${tx.tenant_id}::uuid and gr.group_id = any(array(${groupsHeld(tx, user_id, discounted)}))
      and ${counts(sql`gr.mapped_by`, sql`gr.mapped_at`, discounted)}`
}

/** The scopes (`scope`) of a user now: those of their roles, own and by their groups. */
export function scopesHeld(tx: Tx, user_id: Statement, discounted?: Discounted): Statement {
  return sql`select distinct carried.scope from role r, unnest(r.scopes) as carried (scope)
    where r.tenant_id = ${tx.tenant_id}::uuid and r.id = any(array(${rolesHeld(tx, user_id, discounted)}))
      and ${discounted === undefined ? sql`true` : isUntainted(tx, discounted)}`
}

function isUntainted(tx: Tx, discounted: Discounted): Statement {
  return sql`not exists (select from role_added_scope later
    where later.tenant_id = ${tx.tenant_id}::uuid and later.role_id = r.id and later.scope = carried.scope
      and not ${counts(sql`later.added_by`, sql`later.added_at`, discounted)})`
}

/** Whether somebody holds the role, own or by a group. */
export async function holdsRole(tx: Tx, user_id: string | null, role_id: string): Promise<boolean> {
  const found = await tx.read(
    sql`select from (${rolesHeld(tx, sql`${user_id}::uuid`)}) as held where held.role_id = ${role_id}`,
  )
  return found.length > 0
}

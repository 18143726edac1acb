import { sql } from '../db/sql.ts'
import type { Statement, Tx } from '../kernel/context.ts'
import type { Principal } from '../policies/question.ts'

/** A role that counts not: given by this person after that moment. */
export type Discounted = { granted_by: Statement; after: Statement }

/**
 * A user as policy sees them, as one value (null: no such user) to weave into another statement. `user_id` is a value or a
 * column. Where roles are discounted, they and their scopes are left out.
 */
export function principalAsJson(tx: Tx, user_id: Statement, discounted?: Discounted): Statement<Principal> {
  const counts =
    discounted === undefined
      ? sql``
      : sql` and not (ur.granted_by is not distinct from ${discounted.granted_by} and ur.granted_at > ${discounted.after})`
  const roles = sql`user_role ur where ur.tenant_id = u.tenant_id and ur.user_id = u.id${counts}`
  return sql`(select jsonb_build_object('id', u.id, 'email', u.email, 'name', u.name, 'active', u.active,
      'auth_provider', u.auth_provider, 'is_owner', u.is_owner, 'group_ids', '[]'::jsonb,
      'role_ids', array(select ur.role_id from ${roles} order by ur.role_id),
      'scopes', array(select distinct scope from role r, unnest(r.scopes) scope
        where r.tenant_id = u.tenant_id and r.id = any(array(select ur.role_id from ${roles})) order by scope))
    from tenant_user u where u.tenant_id = ${tx.tenant_id} and u.id = ${user_id})`
}

import { sql } from '../db/sql.ts'
import type { Statement, Tx } from '../kernel/context.ts'
import type { Principal } from '../policy-engine/cedar/question.ts'
import { type Discounted, groupsHeld, holdersOf, rolesHeld, scopesHeld } from '../roles/holding-store.ts'
import { isActive } from './active-store.ts'

/**
 * A user as policies see them, as one value (null: no such user) to embed in another statement. `user_id` is a value or a
 * column. Discounted groups, roles and scopes are left out. A suspended user is not active.
 */
export function principalAsJson(tx: Tx, user_id: Statement, discounted?: Discounted): Statement<Principal> {
  const [u, self] = [sql`u`, sql`u.id`]
  return sql`(select jsonb_build_object('id', u.id, 'email', u.email, 'email_verified', u.email_verified,
      'name', u.name, 'active', ${isActive(u)}, 'auth_provider', u.auth_provider, 'is_owner', u.is_owner,
      'group_ids', array(${groupsHeld(tx, self, discounted)} order by 1),
      'role_ids', array(${rolesHeld(tx, self, discounted)} order by 1),
      'scopes', array(${scopesHeld(tx, self, discounted)} order by 1))
    from tenant_user u where u.tenant_id = ${tx.tenant_id} and u.id = ${user_id})`
}

/** A page of holders: not `except`, with ids after `after` (null: from the first), at most `limit`. */
export type HolderPage = { except: Statement; after: string | null; limit: number }

/** A page of the active users who may decide requests, as policies see them, in the order of their ids, as one value. */
export function approversAsJson(tx: Tx, { except, after, limit }: HolderPage, discounted?: Discounted): Statement {
  return sql`(select coalesce(jsonb_agg(${principalAsJson(tx, sql`holder.id`, discounted)} order by holder.id), '[]')
    from (select person.id from tenant_user person
      where person.tenant_id = ${tx.tenant_id}::uuid and ${isActive(sql`person`)} and person.id <> ${except}
        and (${after}::uuid is null or person.id > ${after}::uuid)
        and person.id in (${holdersOf(tx, ['requests:approve'], discounted)})
      order by person.id limit ${limit}) holder)`
}

import { sql } from '../db/sql.ts'
import type { Statement, Tx } from '../kernel/context.ts'
import type { Principal } from '../policy-engine/cedar/question.ts'
import { type Discounted, groupsHeld, holdersOf, rolesHeld, scopesHeld } from '../roles/holding-store.ts'

/**
 * A user as policy sees them, as one value (null: no such user) to weave into another statement. `user_id` is a value or a
 * column. Groups, roles and scopes that are discounted are left out.
 */
export function principalAsJson(tx: Tx, user_id: Statement, discounted?: Discounted): Statement<Principal> {
  const self = sql`u.id`
  return sql`(select jsonb_build_object('id', u.id, 'email', u.email, 'name', u.name, 'active', u.active,
      'auth_provider', u.auth_provider, 'is_owner', u.is_owner,
      'group_ids', array(${groupsHeld(tx, self, discounted)} order by 1),
      'role_ids', array(${rolesHeld(tx, self, discounted)} order by 1),
      'scopes', array(${scopesHeld(tx, self, discounted)} order by 1))
    from tenant_user u where u.tenant_id = ${tx.tenant_id} and u.id = ${user_id})`
}

/** Which of the people who hold a scope: not `except`, those whose ids come after `after` (null: from the first), at most so many. */
export type HoldersAsked = { except: Statement; after: string | null; limit: number }

/** A portion of the active people who may decide requests, as policy sees them, by their ids; as one value. */
export function approversAsJson(tx: Tx, { except, after, limit }: HoldersAsked, discounted?: Discounted): Statement {
  return sql`(select coalesce(jsonb_agg(${principalAsJson(tx, sql`holder.id`, discounted)} order by holder.id), '[]')
    from (select person.id from tenant_user person
      where person.tenant_id = ${tx.tenant_id}::uuid and person.active and person.id <> ${except}
        and (${after}::uuid is null or person.id > ${after}::uuid)
        and person.id in (${holdersOf(tx, ['requests:approve'], discounted)})
      order by person.id limit ${limit}) holder)`
}

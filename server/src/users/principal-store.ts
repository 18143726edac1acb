import { sql } from '../db/sql.ts'
import type { Statement, Tx } from '../kernel/context.ts'
import type { Approver, Principal } from '../policy-engine/cedar/question.ts'
import { type Discounted, groupsHeld, holdersOf, rolesHeld, scopesHeld } from '../roles/holding-store.ts'
import { isActive } from './active-store.ts'
import { waitsToJoin } from './joined-store.ts'

/**
 * A common table expression in place of the table, for a database that may be of an earlier version: there every membership lasts. To
 * stand before a statement that reads users as policies see them.
 */
export const lastingMembers = sql`group_member as not materialized (select tenant_id, group_id, user_id, added_by,
  created_at, null::timestamptz as given_at, null::timestamptz as expires_at from group_member)`

/**
 * A user as policies see them, as one value (null: no such user) to embed in another statement. `user_id` is a value or a
 * column. Discounted groups, roles and scopes are left out. A suspended user is not active.
 */
export function principalAsJson(tx: Tx, user_id: Statement, discounted?: Discounted): Statement<Principal> {
  const [u, self] = [sql`u`, sql`u.id`]
  return sql<Principal>`(select jsonb_build_object('id', u.id, 'email', u.email, 'email_verified', u.email_verified,
      'name', u.name, 'active', ${isActive(u)}, 'auth_provider', u.auth_provider, 'is_owner', u.is_owner,
      'group_ids', array(${groupsHeld(tx, self, discounted)} order by 1),
      'role_ids', array(${rolesHeld(tx, self, discounted)} order by 1),
      'scopes', array(${scopesHeld(tx, self, discounted)} order by 1))
    from tenant_user u where u.tenant_id = ${tx.tenant_id} and u.id = ${user_id})`
}

/** A user as one who is to decide a request, as one value. `user_id` is a value or a column. */
export function approverAsJson(tx: Tx, user_id: Statement, discounted: Discounted): Statement<Approver> {
  return sql<Approver>`jsonb_build_object('counting', ${principalAsJson(tx, user_id, discounted)},
    'whole', ${principalAsJson(tx, user_id)})`
}

/** A page of holders: not `except`, with ids after `after` (null: from the first), at most `limit`. */
export type HolderPage = { except: Statement; after: string | null; limit: number }

/** A page of the active users who may decide requests and have joined, in the order of their ids, as one value. */
export function approversAsJson(tx: Tx, page: HolderPage, discounted: Discounted): Statement<Approver[]> {
  return pageAsJson(tx, page, approverAsJson(tx, sql`holder.id`, discounted), discounted)
}

/** The same where all rights count, as policies see a user. */
export function principalsAsJson(tx: Tx, page: HolderPage): Statement<Principal[]> {
  return pageAsJson(tx, page, principalAsJson(tx, sql`holder.id`))
}

/**
 * The active users who may request access, by name, as policies see them, at most `limit`, and how many there are in all: as one value.
 */
export function requestersAsJson(tx: Tx, limit: number): Statement<{ total: number; people: Principal[] }> {
  return sql`(select jsonb_build_object('total', coalesce(max(holder.total), 0),
      'people', coalesce(jsonb_agg(${principalAsJson(tx, sql`holder.id`)} order by holder.place), '[]'))
    from (select person.id, count(*) over () as total, row_number() over (order by person.name_key, person.id) as place
      from tenant_user person
      where person.tenant_id = ${tx.tenant_id}::uuid and ${isActive(sql`person`)}
        and person.id in (${holdersOf(tx, ['requests:create'])})
      order by person.name_key, person.id limit ${limit}) holder)`
}

/** Whether a user who may decide requests waits to join, other than `except`: as one value. */
export function approverWaitsToJoin(tx: Tx, except: Statement): Statement<boolean> {
  return sql<boolean>`exists (select from ${approvers(tx, except)} and ${waitsToJoin(sql`person`)})`
}

function pageAsJson<Person>(
  tx: Tx,
  { except, after, limit }: HolderPage,
  person: Statement<Person>,
  discounted?: Discounted,
): Statement<Person[]> {
  return sql<Person[]>`(select coalesce(jsonb_agg(${person} order by holder.id), '[]')
    from (select person.id from ${approvers(tx, except, discounted)} and not ${waitsToJoin(sql`person`)}
        and (${after}::uuid is null or person.id > ${after}::uuid)
      order by person.id limit ${limit}) holder)`
}

/**
 * The table and the conditions of the active users `person` who may decide requests, joined or not. The holders are an array: as a join,
 * a plan made before the tenant grew compares each of them with each person.
 */
function approvers(tx: Tx, except: Statement, discounted?: Discounted): Statement {
  return sql`tenant_user person
    where person.tenant_id = ${tx.tenant_id}::uuid and ${isActive(sql`person`)} and person.id <> ${except}
      and person.id = any(array(${holdersOf(tx, ['requests:approve'], discounted)}))`
}

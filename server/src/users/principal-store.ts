import { sql } from '../db/sql.ts'
import type { Statement, Tx } from '../kernel/context.ts'
import type { Principal, Weighed } from '../policy-engine/cedar/question.ts'
import { type Discounted, groupsHeld, holdersOf, rolesHeld, scopesHeld } from '../roles/holding-store.ts'
import { isActive } from './active-store.ts'
import { factsAsJson } from './fact-store.ts'
import { waitsToJoin } from './joined-store.ts'

/**
 * Common table expressions in place of tables, for a database that may be of an earlier version: there every membership lasts, and facts
 * may not be known. To stand before a statement that reads users as policies see them.
 */
export const earlierPeople = sql`group_member as not materialized (select tenant_id, group_id, user_id, added_by,
    created_at, null::timestamptz as given_at, null::timestamptz as expires_at from group_member),
  tenant_user as not materialized (select t.tenant_id, t.id, t.email, t.email_verified, t.name, t.active,
    t.suspended_until, t.deleted_at, t.auth_provider, t.is_owner, to_jsonb(t) ->> 'department' as department,
    to_jsonb(t) ->> 'title' as title, (to_jsonb(t) ->> 'manager_id')::uuid as manager_id,
    null::timestamptz as facts_set_at from tenant_user t),
  user_fact_version as not materialized (select null::uuid as tenant_id, null::uuid as user_id, null as fact,
    null::integer as number, null as value, null::uuid as set_by, null::timestamptz as set_at where false)`

/**
 * A user as policies see them, as one value (null: no such user) to embed in another statement. `user_id` is a value or a
 * column. Discounted groups, roles and scopes are left out, and in place of a discounted fact stands the one from before. A fact that is not
 * known is absent. A suspended user is not active.
 */
export function principalAsJson(tx: Tx, user_id: Statement, discounted?: Discounted): Statement<Principal> {
  const [u, self] = [sql`u`, sql`u.id`]
  return sql<Principal>`(select jsonb_build_object('id', u.id, 'email', u.email, 'email_verified', u.email_verified,
      'name', u.name, 'active', ${isActive(u)}, 'auth_provider', u.auth_provider, 'is_owner', u.is_owner,
      'group_ids', array(${groupsHeld(tx, self, discounted)} order by 1),
      'role_ids', array(${rolesHeld(tx, self, discounted)} order by 1),
      'scopes', array(${scopesHeld(tx, self, discounted)} order by 1))
      || ${factsAsJson(tx, u, discounted)}
    from tenant_user u where u.tenant_id = ${tx.tenant_id} and u.id = ${user_id})`
}

/** A user with what counts for a request, and with all there is, as one value. `user_id` is a value or a column. */
export function weighedAsJson(tx: Tx, user_id: Statement, discounted: Discounted): Statement<Weighed> {
  return sql<Weighed>`jsonb_build_object('counting', ${principalAsJson(tx, user_id, discounted)},
    'whole', ${principalAsJson(tx, user_id)})`
}

/** A page of holders: not `except` (null: all of them), with ids after `after` (null: from the first), at most `limit`. */
export type HolderPage = { except: Statement | null; after: string | null; limit: number }

/** A page of the active users who may decide requests and have joined, in the order of their ids, as one value. */
export function approversAsJson(tx: Tx, page: HolderPage, discounted: Discounted): Statement<Weighed[]> {
  return pageAsJson(tx, page, weighedAsJson(tx, sql`holder.id`, discounted), discounted)
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
function approvers(tx: Tx, except: Statement | null, discounted?: Discounted): Statement {
  return sql`tenant_user person
    where person.tenant_id = ${tx.tenant_id}::uuid and ${isActive(sql`person`)}
      and ${except === null ? sql`true` : sql`person.id <> ${except}`}
      and person.id = any(array(${holdersOf(tx, ['requests:approve'], discounted)}))`
}

import { sql } from '../db/sql.ts'
import type { Statement, Tx } from '../kernel/context.ts'
import type { Scope } from '../permissions/permission.ts'
import { givenAt, isCurrent } from './membership-store.ts'

// Embedded as arrays: each is looked up by key once, which is the cheapest for a request in a tenant of any size.

/**
 * Discounts everything that these users (`givers`, a select of their ids) gave after that moment: a role, a membership, the role of a
 * group, an added scope of a role, or a fact. The givers are those of `receiversOf`.
 */
export type Discounted = { givers: Statement; after: Statement }

/** A gift of the operator (no giver) or from before the moment counts. Only for other gifts the tainted givers are computed. */
export function counts(given_by: Statement, given_at: Statement, discounted: Discounted | undefined): Statement {
  if (discounted === undefined) return sql`true`
  return sql`(${given_by} is null or ${given_at} <= ${discounted.after} or ${given_by} not in (${discounted.givers}))`
}

/** The groups (`group_id`) of a user (a value or a column): a select to embed in another statement. */
export function groupsHeld(tx: Tx, user_id: Statement, discounted?: Discounted): Statement {
  return sql`select gm.group_id from group_member gm
    where gm.tenant_id = ${tx.tenant_id}::uuid and gm.user_id = ${user_id} and ${isCurrent(sql`gm`)}
      and ${counts(sql`gm.added_by`, givenAt(sql`gm`), discounted)}`
}

/** The roles (`role_id`) of a user, own and by their groups. A role counts when at least one path to it counts. */
export function rolesHeld(tx: Tx, user_id: Statement, discounted?: Discounted): Statement {
  return sql`select ur.role_id from user_role ur
    where ur.tenant_id = ${tx.tenant_id}::uuid and ur.user_id = ${user_id}
      and ${counts(sql`ur.granted_by`, sql`ur.granted_at`, discounted)}
    union select gr.role_id from group_role gr
    where gr.tenant_id = ${tx.tenant_id}::uuid and gr.group_id = any(array(${groupsHeld(tx, user_id, discounted)}))
      and ${counts(sql`gr.mapped_by`, sql`gr.mapped_at`, discounted)}`
}

/**
 * The roles of a user with their names, as one value: `{id, name, own}`, by name, at most `max`. `own`: given to the user, and not only to
 * a group.
 */
export function rolesHeldAsJson(tx: Tx, user_id: Statement, max: number): Statement {
  return sql`(select coalesce(jsonb_agg(to_jsonb(held) order by held.name, held.id), '[]')
    from (select r.id, r.name, exists (select from user_role ur where ur.tenant_id = ${tx.tenant_id}::uuid
          and ur.user_id = ${user_id} and ur.role_id = r.id) as own
      from role r where r.tenant_id = ${tx.tenant_id}::uuid and r.id = any(array(${rolesHeld(tx, user_id)}))
      order by r.id limit ${max}) held)`
}

/** The current scopes (`scope`) of a user: those of their roles, own and by their groups. */
export function scopesHeld(tx: Tx, user_id: Statement, discounted?: Discounted): Statement {
  return sql`select distinct carried.scope from role r, unnest(r.scopes) as carried (scope)
    where r.tenant_id = ${tx.tenant_id}::uuid and r.id = any(array(${rolesHeld(tx, user_id, discounted)}))
      and ${discounted === undefined ? sql`true` : isUntainted(tx, discounted)}`
}

/**
 * The users (`user_id`) who hold one of these scopes now, own or by a group: a select to embed in another statement. It
 * starts at the roles that carry one, so that its cost depends on the number of holders and not on the number of users.
 */
export function holdersOf(tx: Tx, scopes: readonly Scope[], discounted?: Discounted): Statement {
  const carries = sql`exists (select from unnest(r.scopes) as carried (scope)
    where carried.scope = any(${[...scopes]}::text[])
      and ${discounted === undefined ? sql`true` : isUntainted(tx, discounted)})`
  return sql`select ur.user_id from role r join user_role ur on ur.tenant_id = r.tenant_id and ur.role_id = r.id
    where r.tenant_id = ${tx.tenant_id}::uuid and ${carries}
      and ${counts(sql`ur.granted_by`, sql`ur.granted_at`, discounted)}
    union select gm.user_id from role r join group_role gr on gr.tenant_id = r.tenant_id and gr.role_id = r.id
      join group_member gm on gm.tenant_id = gr.tenant_id and gm.group_id = gr.group_id
    where r.tenant_id = ${tx.tenant_id}::uuid and ${carries} and ${isCurrent(sql`gm`)}
      and ${counts(sql`gr.mapped_by`, sql`gr.mapped_at`, discounted)}
      and ${counts(sql`gm.added_by`, givenAt(sql`gm`), discounted)}`
}

function isUntainted(tx: Tx, discounted: Discounted): Statement {
  return sql`not exists (select from role_added_scope later
    where later.tenant_id = ${tx.tenant_id}::uuid and later.role_id = r.id and later.scope = carried.scope
      and not ${counts(sql`later.added_by`, sql`later.added_at`, discounted)})`
}

/** Whether the user holds the role, own or by a group. */
export async function holdsRole(tx: Tx, user_id: string | null, role_id: string): Promise<boolean> {
  const found = await tx.read(
    sql`select from (${rolesHeld(tx, sql`${user_id}::uuid`)}) as held where held.role_id = ${role_id}`,
  )
  return found.length > 0
}

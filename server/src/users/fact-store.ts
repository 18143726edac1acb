import { sql } from '../db/sql.ts'
import type { Statement, Tx } from '../kernel/context.ts'
import { counts, type Discounted } from '../roles/holding-store.ts'
import { noSuchManager, type StoredFacts } from './fact.ts'

/** The id of the manager of `user`, a row of tenant_user; null where none is known. Nobody knows a manager who was deleted. */
export function managerOf(user: Statement): Statement {
  return managerNamed(user, sql`${user}.manager_id`, sql`m.deleted_at is null`)
}

/** The manager with their name, as one value. */
export function managerAsJson(user: Statement): Statement<{ id: string; name: string } | null> {
  return sql`(select case when m.deleted_at is null then jsonb_build_object('id', m.id, 'name', m.name) end
    from tenant_user m where m.tenant_id = ${user}.tenant_id and m.id = ${user}.manager_id)`
}

/** @throws Problem 422 where a change names a manager who is no user of the tenant */
export async function requireManager(tx: Tx, { manager_id }: Partial<StoredFacts>): Promise<void> {
  if (manager_id === undefined || manager_id === null) return
  const found = await tx.read(sql`select from tenant_user u
    where u.tenant_id = ${tx.tenant_id} and u.id = ${manager_id} and u.deleted_at is null`)
  if (found.length === 0) throw noSuchManager(manager_id)
}

/**
 * What is known of a user as policies see it, as one object without what is not known. `user` names a row of tenant_user. Discounted
 * values give way to the latest that counts: a value that was only left out would lift a forbid about those who have it.
 */
export function factsAsJson(tx: Tx, user: Statement, discounted?: Discounted): Statement {
  const [department, title, manager] = [columns.department, columns.title, columns.manager].map((fact) =>
    discounted === undefined ? sql`${user}.${fact.column}` : countingValue(tx, user, fact, discounted),
  ) as [Statement, Statement, Statement]
  // A manager may be deleted so that someone else decides: for what is older, they are still the manager.
  const isThere = sql`m.deleted_at is null`
  const isManager = discounted === undefined ? isThere : sql`(${isThere} or m.deleted_at > ${discounted.after})`
  return sql`jsonb_strip_nulls(jsonb_build_object('department', ${department}, 'title', ${title},
    'manager', ${managerNamed(user, sql`(${manager})::uuid`, isManager)}))`
}

/** Whether the user (a value or a column) wrote a fact of anybody since. By a key alone. */
export function wroteFactsSince(tx: Tx, user_id: Statement, after: Statement): Statement<boolean> {
  return sql<boolean>`exists (select from user_fact_version written
    where written.tenant_id = ${tx.tenant_id}::uuid and written.set_by = ${user_id} and written.set_at > ${after})`
}

type Fact = { name: Statement; column: Statement }

const columns = {
  department: { name: sql`'department'`, column: sql`department` },
  title: { name: sql`'title'`, column: sql`title` },
  manager: { name: sql`'manager'`, column: sql`manager_id::text` },
} as const

/** Past values are looked up only of somebody whose facts were written since. */
function countingValue(tx: Tx, user: Statement, { name, column }: Fact, discounted: Discounted): Statement {
  const versions = sql`from user_fact_version v
    where v.tenant_id = ${tx.tenant_id}::uuid and v.user_id = ${user}.id and v.fact = ${name}`
  return sql`case when ${user}.facts_set_at is null or ${user}.facts_set_at <= ${discounted.after}
      or not exists (select ${versions}) then ${user}.${column}
    else (select v.value ${versions} and ${counts(sql`v.set_by`, sql`v.set_at`, discounted)}
      order by v.number desc limit 1) end`
}

/** The condition is no part of the `where`: with it, an index of all users who were not deleted would seem to do. */
function managerNamed(user: Statement, id: Statement, condition: Statement): Statement {
  return sql`(select case when ${condition} then m.id end from tenant_user m
    where m.tenant_id = ${user}.tenant_id and m.id = ${id})`
}

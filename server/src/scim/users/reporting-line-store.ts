/** Who is whose manager, in a directory whose users name their managers by a key, and may come before them. */
import { sql } from '../../db/sql.ts'
import { emitWithFacts } from '../../events/emit.ts'
import type { DirectoryCtx } from '../../http/scim-operation.ts'
import type { Statement } from '../../kernel/context.ts'
import { readUuid } from '../../kernel/id.ts'
import type { Person } from '../person.ts'

/**
 * The users of the directory (`user_id`) with this key, a condition on `d`: a select to embed in another statement. No index is asked for the
 * provider: until the tables are analyzed, those of the provider seem to find one row, and PostgreSQL would read the whole directory.
 */
export function userBy({ tx, identity_provider_id }: DirectoryCtx, key: Statement): Statement {
  return sql`select d.user_id from directory_user d where d.tenant_id = ${tx.tenant_id}::uuid and ${key}
    and (d.identity_provider_id = ${identity_provider_id}::uuid) is true`
}

/** Of the locks of this kind, one for each key of a directory. */
const naming = 78

/**
 * Until the transaction ends: who begins to be `named` by a key waits for those who begin to name their manager by it, and they for them.
 * Otherwise neither would see the other, and the one would have no manager. A statement of its own, before all that read either.
 */
export function managerLocks(
  { tx, identity_provider_id }: DirectoryCtx,
  { named, names }: { named: string | null; names: string | null },
): Statement {
  const place = `${tx.tenant_id} ${identity_provider_id}`
  const keyOf = (key: string | null) => (key === null ? null : `${place} ${key}`)
  // In one order, so that two users who name each other do not wait for each other.
  return sql`select case when l.is_named then pg_advisory_xact_lock(${naming}::integer, l.number)
      else pg_advisory_xact_lock_shared(${naming}::integer, l.number) end
    from (select hashtext(key) as number, bool_or(is_named) as is_named
      from (values (${keyOf(named)}::text, true), (${keyOf(names)}::text, false)) as k (key, is_named)
      where key is not null group by 1 order by 1 offset 0) l`
}

/** The manager whom a user of the directory names by id or external id; null where the directory has none such, and for the user themselves. */
export function managerOf(
  ctx: DirectoryCtx,
  { manager_key: key }: Pick<Person, 'manager_key'>,
  self: string,
): Statement {
  const id = key === null ? null : (readUuid(key) ?? null)
  const by = (which: Statement) => sql`(${userBy(ctx, which)} and d.user_id <> ${self}::uuid)`
  return sql`coalesce(${by(sql`d.user_id = ${id}::uuid`)}, ${by(sql`d.external_id = ${key}::text`)})`
}

/**
 * Those who named the user as their manager by the external id that the user has now, before there was such a user, and the events of it.
 * Arrays, each made once: by a join, PostgreSQL would read every user of the tenant.
 */
export function reportsFollow(ctx: DirectoryCtx, id: string, external_id: string | null): Statement {
  const { tx, author, identity_provider_id } = ctx
  const data = { fields: ['manager_id'], identity_provider_id }
  const event = { type: 'user.updated', subject_type: 'user', data } as const
  const named = sql`(select ids from named)::uuid[]`
  return sql`with named as materialized (
      select array(${userBy(ctx, sql`d.manager_key = ${external_id}::text`)}) as ids),
    reports as materialized (
      select u.id from tenant_user u
      -- Nothing is looked for where there are none, as for most.
      where ${named} <> '{}' and u.tenant_id = ${tx.tenant_id}::uuid and u.id = any(${named}) and u.deleted_at is null
        and u.id <> ${id}::uuid and u.manager_id is distinct from ${id}::uuid and exists (
          ${userBy(ctx, sql`d.user_id = ${id}::uuid`)} and d.external_id = ${external_id}::text)
      order by u.id for no key update),
    followed as (
      update tenant_user u set manager_id = ${id}::uuid, facts_set_by = ${author}::uuid,
        updated_at = clock_timestamp()
      where exists (select from reports) and u.tenant_id = ${tx.tenant_id}::uuid
        and u.id = any(array(select id from reports))
      returning u.id, '{}'::jsonb as facts)
    ${emitWithFacts(ctx, event, sql`followed`)}`
}

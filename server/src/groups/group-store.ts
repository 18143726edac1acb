import { sql } from '../db/sql.ts'
import { emit } from '../events/emit.ts'
import type { Statement, Tx, WorkCtx } from '../kernel/context.ts'
import { groupsHeld } from '../roles/holding-store.ts'
import { asGroup, type Group, type GroupChange, type GroupRow, type GroupSource } from './group.ts'

/** The columns of a group, `g` if not named, with the number of its members and the roles that it gives. */
export function groupColumns(tx: Tx, g = sql`g`): Statement {
  return sql`${g}.id, ${g}.name, ${g}.description, ${g}.source, ${g}.created_at, ${g}.updated_at,
    (select count(*)::integer from group_member
      where tenant_id = ${tx.tenant_id}::uuid and group_id = ${g}.id) as member_count,
    array(select role_id from group_role
      where tenant_id = ${tx.tenant_id}::uuid and group_id = ${g}.id order by role_id) as role_mappings`
}

/** Inserts a new group without members and emits the event. */
export async function insertGroup(
  ctx: WorkCtx,
  group: { id: string; name: string; description: string; source: GroupSource },
): Promise<Group> {
  const { tx } = ctx
  const { id, name, description, source } = group
  const event = { type: 'group.created', subject_type: 'group', subject_id: id, data: { source } } as const
  const [[made]] = await tx.write([
    sql<GroupRow>`with made as (
        insert into tenant_group (tenant_id, id, name, description, source)
        values (${tx.tenant_id}, ${id}, ${name}, ${description}, ${source})
        returning *),
      emitted as (${emit(ctx, event, sql`made`)})
      select ${groupColumns(tx)} from made g`,
  ])
  if (made === undefined) throw new Error('a group was inserted and not returned')
  return asGroup(made)
}

/** The groups of a user (a value or a column) with their names, as one value: `{id, name}`, by name, at most `max`. */
export function groupsHeldAsJson(tx: Tx, user_id: Statement, max: number): Statement {
  return sql`(select coalesce(jsonb_agg(jsonb_build_object('id', g.id, 'name', g.name) order by g.name, g.id), '[]')
    from (${groupsHeld(tx, user_id)} order by gm.group_id limit ${max}) held
      join tenant_group g on g.tenant_id = ${tx.tenant_id}::uuid and g.id = held.group_id)`
}

export async function findGroup(tx: Tx, id: string): Promise<Group | undefined> {
  const [row] = await tx.read(
    sql<GroupRow>`select ${groupColumns(tx)} from tenant_group g where g.tenant_id = ${tx.tenant_id} and g.id = ${id}`,
  )
  return row && asGroup(row)
}

/** Locks a group until the transaction ends; only inside `interactive`. */
export async function lockGroup(tx: Tx, id: string): Promise<void> {
  await tx.read(sql`select from tenant_group where tenant_id = ${tx.tenant_id} and id = ${id} for no key update`)
}

/** Changes a local group and emits the event; undefined when nothing changed. */
export async function saveLocalGroup(ctx: WorkCtx, id: string, change: GroupChange): Promise<Group | undefined> {
  const { tx } = ctx
  const name = sql`coalesce(${change.name ?? null}::text, name)`
  const description = sql`coalesce(${change.description ?? null}::text, description)`
  const data = { fields: Object.keys(change).sort() }
  const event = { type: 'group.updated', subject_type: 'group', subject_id: id, data } as const
  const [[saved]] = await tx.write([
    sql<GroupRow>`with changed as (
        update tenant_group set name = ${name}, description = ${description}, updated_at = clock_timestamp()
        where tenant_id = ${tx.tenant_id}::uuid and id = ${id}::uuid and source = 'local'
          and (name, description) is distinct from (${name}, ${description})
        returning *),
      emitted as (${emit(ctx, event, sql`changed`)})
      select ${groupColumns(tx)} from changed g`,
  ])
  return saved && asGroup(saved)
}

/** Deletes a local group with its memberships and mappings, and emits the event. */
export async function deleteLocalGroup(ctx: WorkCtx, id: string): Promise<void> {
  const { tx } = ctx
  const event = { type: 'group.deleted', subject_type: 'group', subject_id: id } as const
  await tx.write([
    sql`with gone as (
        delete from tenant_group
        where tenant_id = ${tx.tenant_id}::uuid and id = ${id}::uuid and source = 'local' returning id),
      emitted as (${emit(ctx, event, sql`gone`)})
      select id from gone`,
  ])
}

/** Locks a group until the transaction ends and returns the roles that it gives; only inside `interactive`. */
export async function lockRoleMappings(tx: Tx, id: string): Promise<string[] | undefined> {
  const { tenant_id } = tx
  // Two statements, so that the second sees the writes of the previous lock holder.
  const [[found], rows] = await tx.write([
    sql`select id from tenant_group where tenant_id = ${tenant_id} and id = ${id} for no key update`,
    sql<{ role_id: string }>`select role_id from group_role where tenant_id = ${tenant_id} and group_id = ${id}`,
  ])
  return found === undefined ? undefined : rows.map((row) => row.role_id)
}

/** Changes the roles that a locked group gives, and emits the event. Unchanged mappings keep their author and time. */
export async function saveRoleMappings(
  ctx: WorkCtx,
  id: string,
  { added, removed }: { added: readonly string[]; removed: readonly string[] },
): Promise<void> {
  const { tenant_id } = ctx.tx
  const data = { added, removed }
  const event = { type: 'group.role_mappings_changed', subject_type: 'group', subject_id: id, data } as const
  await ctx.tx.write([
    sql`with taken as (
        delete from group_role
        where tenant_id = ${tenant_id}::uuid and group_id = ${id}::uuid and role_id = any(${[...removed]}::text[])),
      given as (
        insert into group_role (tenant_id, group_id, role_id, mapped_by)
        select ${tenant_id}::uuid, ${id}::uuid, role_id, ${ctx.actor.user_id}::uuid
        from unnest(${[...added]}::text[]) as role_id),
      emitted as (${emit(ctx, event)}),
      changed as (
        update tenant_group set updated_at = clock_timestamp()
        where tenant_id = ${tenant_id}::uuid and id = ${id}::uuid returning id)
      select id from changed`,
  ])
}

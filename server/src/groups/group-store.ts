import { sql } from '../db/sql.ts'
import { emit, emitWithFacts } from '../events/emit.ts'
import type { Statement, Tx, WorkCtx } from '../kernel/context.ts'
import { groupsHeld } from '../roles/holding-store.ts'
import { isCurrent } from '../roles/membership-store.ts'
import { asGroup, type GroupChange, type GroupDetail, type GroupRow } from './group.ts'
import { mappingsLock } from './group-mapping-store.ts'

/**
 * The columns of a group, `g` if not named, with the number of its members and the roles that it gives. All members are counted in an
 * index, and those whose membership has ended in another: PostgreSQL would read each of them to tell them apart.
 */
export function groupColumns(tx: Tx, g = sql`g`): Statement {
  return sql`${g}.id, ${g}.name, ${g}.description, ${g}.source, ${g}.created_at, ${g}.updated_at,
    ${g}.sign_in_provider_id, ${g}.members_notified,
    (select count(*)::integer from group_member m where m.tenant_id = ${tx.tenant_id}::uuid and m.group_id = ${g}.id)
      - (select count(*)::integer from group_member m where m.tenant_id = ${tx.tenant_id}::uuid
        and m.group_id = ${g}.id and m.expires_at is not null and not ${isCurrent(sql`m`)}) as member_count,
    array(select role_id from group_role
      where tenant_id = ${tx.tenant_id}::uuid and group_id = ${g}.id order by role_id) as role_mappings`
}

/** A group that is made here: what its source is, and who may change it, follows from its provider. */
const isMadeHere = sql`(source = 'local' or sign_in_provider_id is not null)`

/**
 * Inserts a new group without members and emits the event. Its memberships come from here, or from claims of the sign-in provider, if it
 * has one. Undefined when the tenant has no such provider.
 */
export async function insertGroup(
  ctx: WorkCtx,
  group: {
    id: string
    name: string
    description: string
    sign_in_provider_id: string | undefined
    members_notified: boolean
  },
): Promise<GroupDetail | undefined> {
  const { tx } = ctx
  const { id, name, description, sign_in_provider_id: provider, members_notified } = group
  const source = provider === undefined ? 'local' : 'identity_provider'
  const claimed = provider !== undefined && { sign_in_provider_id: provider }
  const data = { source, ...claimed, ...(!members_notified && { members_notified }) }
  const event = { type: 'group.created', subject_type: 'group', subject_id: id, data } as const
  const [[made]] = await tx.write([
    sql<GroupRow>`with made as (
        insert into tenant_group (tenant_id, id, name, description, source, sign_in_provider_id, members_notified)
        select ${tx.tenant_id}::uuid, ${id}::uuid, ${name}, ${description}, ${source}, ${provider ?? null}::uuid,
          ${members_notified}::boolean
        where ${source} = 'local' or exists (select from sign_in_setting
          where tenant_id = ${tx.tenant_id}::uuid and id = ${provider ?? null}::uuid)
        returning *),
      emitted as (${emit(ctx, event, sql`made`)})
      select ${groupColumns(tx)} from made g`,
  ])
  return made && asGroup(made)
}

/** The groups of a user (a value or a column) with their names, as one value: `{id, name}`, by name, at most `max`. */
export function groupsHeldAsJson(tx: Tx, user_id: Statement, max: number): Statement {
  return sql`(select coalesce(jsonb_agg(jsonb_build_object('id', g.id, 'name', g.name) order by g.name, g.id), '[]')
    from (${groupsHeld(tx, user_id)} order by gm.group_id limit ${max}) held
      join tenant_group g on g.tenant_id = ${tx.tenant_id}::uuid and g.id = held.group_id)`
}

export async function findGroup(tx: Tx, id: string): Promise<GroupDetail | undefined> {
  const [row] = await tx.read(
    sql<GroupRow>`select ${groupColumns(tx)} from tenant_group g where g.tenant_id = ${tx.tenant_id} and g.id = ${id}`,
  )
  return row && asGroup(row)
}

/** Locks a group until the transaction ends; only inside `interactive`. */
export async function lockGroup(tx: Tx, id: string): Promise<void> {
  await tx.read(sql`select from tenant_group where tenant_id = ${tx.tenant_id} and id = ${id} for no key update`)
}

/**
 * Changes these fields of a group and emits the event; undefined when nothing changed. Whether its members are notified is decided here
 * whatever its source, and the rest only of a group that is made here.
 */
export async function saveGroup(ctx: WorkCtx, id: string, change: GroupChange): Promise<GroupDetail | undefined> {
  const { tx } = ctx
  const name = sql`coalesce(${change.name ?? null}::text, name)`
  const description = sql`coalesce(${change.description ?? null}::text, description)`
  const notified = sql`coalesce(${change.members_notified ?? null}::boolean, members_notified)`
  const { members_notified } = change
  const data = { fields: Object.keys(change).sort(), ...(members_notified !== undefined && { members_notified }) }
  const event = { type: 'group.updated', subject_type: 'group', subject_id: id, data } as const
  const [[saved]] = await tx.write([
    sql<GroupRow>`with changed as (
        update tenant_group set name = ${name}, description = ${description}, members_notified = ${notified},
          updated_at = clock_timestamp()
        where tenant_id = ${tx.tenant_id}::uuid and id = ${id}::uuid
          and (${isMadeHere} or (name, description) is not distinct from (${name}, ${description}))
          and (name, description, members_notified) is distinct from (${name}, ${description}, ${notified})
        returning *),
      emitted as (${emit(ctx, event, sql`changed`)})
      select ${groupColumns(tx)} from changed g`,
  ])
  return saved && asGroup(saved)
}

/**
 * Deletes a group that is made here with its memberships and mappings, and emits the event. Of a group of the sign-in provider the event
 * says which mappings to it ended, and the version of the sign-in settings shows it. Sign-ins in progress come before, or find no mapping.
 */
export async function deleteGroupMadeHere(ctx: WorkCtx, id: string): Promise<void> {
  const { tx } = ctx
  const event = { type: 'group.deleted', subject_type: 'group', subject_id: id } as const
  const values = sql`(select jsonb_agg(value order by value) from group_mapping
    where tenant_id = ${tx.tenant_id}::uuid and group_id = ${id}::uuid)`
  await tx.write([
    mappingsLock(tx),
    sql`with gone as (
        delete from tenant_group
        where tenant_id = ${tx.tenant_id}::uuid and id = ${id}::uuid and ${isMadeHere} returning id),
      ended as (select jsonb_strip_nulls(jsonb_build_object('mapped_values', ${values})) as facts from gone),
      emitted as (${emitWithFacts(ctx, event, sql`ended`)}),
      unmapped as (
        update sign_in_setting set version = version + 1, updated_at = clock_timestamp()
        where tenant_id = ${tx.tenant_id}::uuid and exists (select from ended where facts ? 'mapped_values'))
      select id from gone`,
  ])
}

/**
 * The groups of a directory that goes are managed here from now on, with the members that they have, and what they give stays as it is.
 * In the transaction that deletes the provider.
 */
export async function releaseDirectoryGroups(ctx: WorkCtx, identity_provider_id: string): Promise<void> {
  const { tx } = ctx
  const theirs = sql`(select d.group_id from directory_group d where d.tenant_id = ${tx.tenant_id}::uuid
    and d.identity_provider_id = ${identity_provider_id}::uuid)`
  const event = { type: 'group.updated', subject_type: 'group', data: { fields: ['source'] } } as const
  await tx.write([
    sql`with changed as (
        update tenant_group set source = 'local', updated_at = clock_timestamp()
        where tenant_id = ${tx.tenant_id}::uuid and id in ${theirs} returning id, '{}'::jsonb as facts),
      emitted as (${emitWithFacts(ctx, event, sql`changed`)})
      select id from changed`,
    // After the lock of the groups, so that it sees the members whom a call under way has added.
    sql`update group_member set membership_source = 'local'
      where tenant_id = ${tx.tenant_id} and group_id in ${theirs}`,
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

import { sql } from '../../db/sql.ts'
import { emit, emitWithFacts } from '../../events/emit.ts'
import type { DirectoryCtx, GroupingCtx } from '../../http/scim-operation.ts'
import type { Statement } from '../../kernel/context.ts'
import { searchedName } from '../filter.ts'
import { versionOf } from '../users/directory-user-store.ts'
import type { DirectoryGroup, DirectoryMember } from './directory-group.ts'
import { type GroupChange, type GroupContent, groupName, type MemberChange } from './group-change.ts'

const groupColumns = sql`d.group_id as id, d.display_name, d.external_id, d.created_at, d.updated_at,
  ${versionOf(sql`d`)} as version`

/** The groups of the directory, `d`. */
export function directoryGroups({ tx, identity_provider_id }: DirectoryCtx): Statement {
  return sql`directory_group d where d.tenant_id = ${tx.tenant_id}::uuid
    and d.identity_provider_id = ${identity_provider_id}::uuid`
}

/** The group of the directory with this id there (`group_id`), for the reason that `userBy` has: a select to embed in another statement. */
export function groupByExternalId({ tx, identity_provider_id }: DirectoryCtx, external_id: Statement): Statement {
  return sql`select d.group_id from directory_group d where d.tenant_id = ${tx.tenant_id}::uuid
    and d.external_id = ${external_id} and (d.identity_provider_id = ${identity_provider_id}::uuid) is true`
}

export async function findGroupByExternalId(ctx: DirectoryCtx, external_id: string): Promise<string | undefined> {
  const [found] = await ctx.tx.read(sql<{ group_id: string }>`${groupByExternalId(ctx, sql`${external_id}::text`)}`)
  return found?.group_id
}

export async function findDirectoryGroup(ctx: DirectoryCtx, id: string): Promise<DirectoryGroup | undefined> {
  const [found] = await ctx.tx.read(
    sql<DirectoryGroup>`select ${groupColumns} from ${directoryGroups(ctx)} and d.group_id = ${id}`,
  )
  return found
}

/** The members of these groups, in the order of their ids. */
export function listDirectoryMembers({ tx }: DirectoryCtx, group_ids: readonly string[]): Promise<DirectoryMember[]> {
  return tx.read(sql<DirectoryMember>`select m.group_id, m.user_id from group_member m
    where m.tenant_id = ${tx.tenant_id} and m.group_id = any(${[...group_ids]}::uuid[])
    order by m.group_id, m.user_id`)
}

/** Those of these ids that are users of the directory. */
export async function findMemberIds(ctx: DirectoryCtx, ids: readonly string[]): Promise<Set<string>> {
  const { tx, identity_provider_id } = ctx
  const found = await tx.read(sql<{ id: string }>`select d.user_id as id from directory_user d
    where d.tenant_id = ${tx.tenant_id} and d.identity_provider_id = ${identity_provider_id}
      and d.user_id = any(${[...ids]}::uuid[])`)
  return new Set(found.map(({ id }) => id))
}

/** Whether a group of the directory has the external id, or the name where neither has an external id. */
export async function isGroupKnown(ctx: DirectoryCtx, { display_name, external_id }: GroupContent): Promise<boolean> {
  const [found] = await ctx.tx.read(sql`select from ${directoryGroups(ctx)} and (d.external_id = ${external_id}::text
      or (${external_id}::text is null and d.external_id is null
        and d.display_name_key = ${searchedName(display_name)})) limit 1`)
  return found !== undefined
}

/** Inserts a group with these members, and emits the events. @throws Problem 409 `version_conflict` for a group that is known */
export async function insertDirectoryGroup(
  ctx: GroupingCtx,
  id: string,
  { display_name, external_id }: GroupContent,
  members: readonly string[],
): Promise<DirectoryGroup> {
  const { tx, identity_provider_id, source } = ctx
  const data = { source, identity_provider_id }
  const event = { type: 'group.created', subject_type: 'group', subject_id: id, data } as const
  const [[made]] = await tx.write([
    sql<DirectoryGroup>`with g as (
        insert into tenant_group (tenant_id, id, name, source)
        values (${tx.tenant_id}::uuid, ${id}::uuid, ${groupName(display_name)}, ${source}) returning *),
      d as (
        insert into directory_group (tenant_id, group_id, identity_provider_id, external_id, display_name,
          display_name_key)
        select g.tenant_id, g.id, ${identity_provider_id}::uuid, ${external_id}, ${display_name},
          ${searchedName(display_name)}
        from g returning *),
      made as (${membersInsert(ctx, members)}),
      emitted as (${emit(ctx, event, sql`d`)}),
      added as (${memberEvents(ctx, 'group.member_added', sql`made`)})
      select ${groupColumns} from d`,
  ])
  if (made === undefined) throw new Error('a group of a directory was inserted and not returned')
  return made
}

/**
 * Makes users of the directory members of the group `d` of the statement. A user who is deleted at this very moment becomes none. No join of
 * the two tables: of a directory that was just read in, the database guesses that it is small, and would compare each user with each.
 */
function membersInsert({ tx, author, source, identity_provider_id }: GroupingCtx, ids: readonly string[]): Statement {
  return sql`insert into group_member (tenant_id, group_id, user_id, membership_source, added_by)
    select d.tenant_id, d.group_id, u.id, ${source}, ${author}::uuid
    from d, (select u.id from tenant_user u
      where u.tenant_id = ${tx.tenant_id}::uuid and u.id = any(${[...ids]}::uuid[]) and u.deleted_at is null
        and (u.id in (select m.user_id from directory_user m where m.tenant_id = ${tx.tenant_id}::uuid
          and m.identity_provider_id = ${identity_provider_id}::uuid and m.user_id = any(${[...ids]}::uuid[]))) is true
      order by u.id for share of u) as u
    on conflict (tenant_id, group_id, user_id) do nothing
    returning group_id as id, user_id`
}

type MemberEvent = 'group.member_added' | 'group.member_removed'

/** An event for each membership of the common table expression. */
function memberEvents(ctx: GroupingCtx, type: MemberEvent, rows: Statement): Statement {
  const { identity_provider_id, source } = ctx
  const data = { membership_source: source, identity_provider_id }
  const facts = sql`(select id, jsonb_build_object('user_id', user_id) as facts from ${rows}) as each_member`
  return emitWithFacts(ctx, { type, subject_type: 'group', data }, facts)
}

/**
 * Changes a group, and emits the events. With `version` only if that is the version; undefined where there is no such group, or it has
 * another version. @throws Problem 409 `version_conflict` where another group has the external id or the name
 */
export async function saveDirectoryGroup(
  ctx: GroupingCtx,
  id: string,
  { display_name, external_id, members }: GroupChange,
  version: string | undefined,
): Promise<DirectoryGroup | undefined> {
  const { tx, identity_provider_id } = ctx
  const name = display_name ?? null
  const data = { fields: ['name'], identity_provider_id }
  const renamed = { type: 'group.updated', subject_type: 'group', subject_id: id, data } as const
  const [, [saved]] = await tx.write([
    // By itself, so that the next statement sees the members of the call that held the lock.
    sql`select from tenant_group where tenant_id = ${tx.tenant_id} and id = ${id} for no key update`,
    sql<DirectoryGroup>`with d as (
        update directory_group d set display_name = coalesce(${name}::text, d.display_name),
          display_name_key = coalesce(${name === null ? null : searchedName(name)}::text, d.display_name_key),
          external_id = case when ${external_id !== undefined} then ${external_id ?? null}::text else d.external_id end,
          updated_at = greatest(clock_timestamp(), d.updated_at + interval '1 microsecond')
        where d.tenant_id = ${tx.tenant_id}::uuid and d.group_id = ${id}::uuid
          and d.identity_provider_id = ${identity_provider_id}::uuid
          and (${version ?? null}::text is null or ${versionOf(sql`d`)} = ${version ?? null})
        returning *),
      g as (
        update tenant_group g set name = ${name === null ? null : groupName(name)}::text, updated_at = clock_timestamp()
        from d where ${name !== null} and g.tenant_id = d.tenant_id and g.id = d.group_id
          and g.name <> ${name === null ? null : groupName(name)}::text
        returning g.id),
      leaving as materialized (${membersLeaving(members)}),
      gone as (
        delete from group_member m using leaving l
        where m.tenant_id = l.tenant_id and m.group_id = l.group_id and m.user_id = l.user_id
        returning m.group_id as id, m.user_id),
      made as (${membersInsert(ctx, members.added)}),
      emitted as (${emit(ctx, renamed, sql`g`)}),
      removed as (${memberEvents(ctx, 'group.member_removed', sql`gone`)}),
      added as (${memberEvents(ctx, 'group.member_added', sql`made`)})
      select ${groupColumns} from d`,
  ])
  return saved
}

/** In the order in which other statements lock memberships. */
function membersLeaving({ all, added, removed }: MemberChange): Statement {
  const which = all ? sql`not (m.user_id = any(${[...added]}::uuid[]))` : sql`m.user_id = any(${[...removed]}::uuid[])`
  return sql`select m.tenant_id, m.group_id, m.user_id from d
    join group_member m on m.tenant_id = d.tenant_id and m.group_id = d.group_id and ${which}
    order by m.user_id, m.group_id for update of m`
}

/** Deletes a group of the directory with its memberships and mappings, and emits the event; false where there is none. */
export async function deleteDirectoryGroup(
  ctx: DirectoryCtx,
  id: string,
  version: string | undefined,
): Promise<boolean> {
  const { tx, identity_provider_id } = ctx
  const data = { identity_provider_id }
  const event = { type: 'group.deleted', subject_type: 'group', subject_id: id, data } as const
  const [gone] = await tx.write([
    sql`with gone as (
        delete from tenant_group g using directory_group d
        where g.tenant_id = ${tx.tenant_id}::uuid and g.id = ${id}::uuid and d.tenant_id = g.tenant_id
          and d.group_id = g.id and d.identity_provider_id = ${identity_provider_id}::uuid
          and (${version ?? null}::text is null or ${versionOf(sql`d`)} = ${version ?? null})
        returning g.id),
      emitted as (${emit(ctx, event, sql`gone`)})
      select id from gone`,
  ])
  return gone.length > 0
}

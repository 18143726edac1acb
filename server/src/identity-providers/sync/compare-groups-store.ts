/**
 * Compares the groups that were read with those here. Each row is looked up by a key, never joined: the tables were filled a moment ago, and
 * without statistics PostgreSQL would compare each with each.
 */
import { sql } from '../../db/sql.ts'
import type { DirectoryCtx } from '../../http/scim-operation.ts'
import type { WorkItem } from '../../jobs/claim.ts'
import { groupByExternalId } from '../../scim/groups/directory-group-store.ts'
import { userByExternalId } from '../../scim/users/directory-user-store.ts'
import { held } from './run-lease-store.ts'

/** A membership as it was read: the ids of both in the directory. */
export type MemberKey = { group_source_id: string; person_source_id: string }

/** Memberships that one statement looks up. */
const maxMembers = 5_000

/**
 * Finds the users of some more memberships, after this one, of those whose user is not known yet. Returns the last of them: null where there
 * are no more, undefined if the lease was lost.
 */
export async function findSomeMembers(
  ctx: DirectoryCtx,
  item: WorkItem,
  after: MemberKey | null,
): Promise<MemberKey | null | undefined> {
  const { tx } = ctx
  const ofRun = sql`m.tenant_id = ${tx.tenant_id}::uuid and m.run_id = ${item.id}::uuid`
  const later = sql`(m.group_source_id, m.person_source_id) >
    (${after?.group_source_id ?? ''}::text, ${after?.person_source_id ?? ''}::text)`
  const [[one]] = await tx.write([
    sql<{ held: boolean; last: MemberKey | null }>`with ${held(tx, item)},
      chunk as materialized (
        select m.ctid as place, m.group_source_id, m.person_source_id from sync_member m
        where ${ofRun} and m.user_id is null and ${later}
        order by m.group_source_id, m.person_source_id limit ${maxMembers}),
      found as (
        update sync_member m set user_id = (${userByExternalId(ctx, sql`m.person_source_id`)})
        where ${ofRun} and exists (select from held) and m.ctid = any(array(select place from chunk)))
      select exists (select from held) as held, (
        select to_jsonb(c) - 'place' from chunk c where (select count(*) from chunk) = ${maxMembers}
        order by c.group_source_id desc, c.person_source_id desc limit 1) as last`,
  ])
  return one?.held === true ? one.last : undefined
}

/**
 * Forgets what was found for groups that are still to be written: the people who have just been made may be their members. Not for those that
 * are to be emptied, which were counted before anything was written.
 */
export async function forgetGroupComparison({ tx }: DirectoryCtx, item: WorkItem): Promise<boolean> {
  const [rows] = await tx.write([
    sql`with ${held(tx, item)},
      forgotten as (
        update sync_group s set change = null
        where s.tenant_id = ${tx.tenant_id}::uuid and s.run_id in (select id from held) and not s.done
          and s.change <> 'empty' and s.message is null)
      select id from held`,
  ])
  return rows.length > 0
}

/** A group to be compared. `members`: how many the directory has in it. */
export type GroupToCompare = { source_id: string; members: number }

export function listGroupsToCompare({ tx }: DirectoryCtx, item: WorkItem, limit: number): Promise<GroupToCompare[]> {
  return tx.read(sql<GroupToCompare>`select s.source_id, (
      select count(*)::integer from sync_member m where m.tenant_id = s.tenant_id and m.run_id = s.run_id
        and m.group_source_id = s.source_id) as members
    from sync_group s where s.tenant_id = ${tx.tenant_id} and s.run_id = ${item.id} and s.change is null
    order by s.source_id limit ${limit}`)
}

/**
 * Notes what has to be done with these groups. `isAgain`: none may be emptied that was not to be before the people were written, since no guard
 * has counted it. Returns whether the run is still ours; otherwise nothing was written.
 */
export async function compareGroupsNamed(
  ctx: DirectoryCtx,
  item: WorkItem,
  { source_ids, isAgain }: { source_ids: readonly string[]; isAgain: boolean },
): Promise<boolean> {
  const { tx } = ctx
  const wanted = sql`sync_member m where m.tenant_id = ${tx.tenant_id}::uuid and m.run_id = ${item.id}::uuid
    and m.group_source_id = s.source_id`
  const has = sql`group_member g where g.tenant_id = ${tx.tenant_id}::uuid and g.group_id = k.group_id`
  const comes = sql`exists (select from sync_person p where p.tenant_id = m.tenant_id and p.run_id = m.run_id
    and p.source_id = m.person_source_id and p.change in ('add', 'adopt')
    and not p.done and p.message is null offset 0)`
  const [rows] = await tx.write([
    sql`with ${held(tx, item)},
      compared as (
        update sync_group s set (group_id, change, message) = (
          select c.group_id, c.change,
            case when c.change = 'empty' and ${isAgain} then ${membersMissing} else s.message end
          from (select k.group_id, case when s.message is not null then 'invalid' when k.group_id is null then 'add'
            when exists (select from ${has}) and not exists (
              select from ${wanted} and (m.user_id is not null or ${comes})) then 'empty'
            when s.name <> (select d.display_name from directory_group d
              where d.tenant_id = ${tx.tenant_id}::uuid and d.group_id = k.group_id) then 'change'
            when (select count(*) from ${has}) <> (select count(m.user_id) from ${wanted}) then 'change'
            when exists (select from ${wanted} and m.user_id is not null and not exists (
              select from ${has} and g.user_id = m.user_id offset 0)) then 'change'
            else 'unchanged' end as change
          from (select (${groupByExternalId(ctx, sql`s.source_id`)}) as group_id) k) c)
        where s.tenant_id = ${tx.tenant_id}::uuid and s.run_id in (select id from held)
          and s.source_id = any(${[...source_ids]}::text[]))
      select id from held`,
  ])
  return rows.length > 0
}

const membersMissing = 'its members could not be made, so it keeps those that it has: the next run decides'

/** Notes the groups with members that the directory no longer has. Returns whether the run is still ours. */
export async function findAbsentGroups(ctx: DirectoryCtx, item: WorkItem): Promise<boolean> {
  const { tx, identity_provider_id } = ctx
  const [rows] = await tx.write([
    sql`with ${held(tx, item)},
      made as (
        insert into sync_group (tenant_id, run_id, source_id, name, group_id, change, absent)
        select ${tx.tenant_id}::uuid, held.id, coalesce(d.external_id, d.group_id::text), d.display_name, d.group_id,
          'empty', true
        from held cross join directory_group d
        where d.tenant_id = ${tx.tenant_id}::uuid and d.identity_provider_id = ${identity_provider_id}::uuid
          and exists (select from group_member m
            where m.tenant_id = ${tx.tenant_id}::uuid and m.group_id = d.group_id)
          and not exists (
            select from sync_group s where s.tenant_id = ${tx.tenant_id}::uuid and s.run_id = ${item.id}::uuid
              and s.source_id = d.external_id offset 0)
        on conflict (tenant_id, run_id, source_id) do nothing)
      select id from held`,
  ])
  return rows.length > 0
}

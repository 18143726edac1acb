/**
 * Compares what was read with the users and groups here, some rows at a time: no statement takes longer for a larger directory. Each row is
 * looked up by a key, never joined: the tables were filled a moment ago, and without statistics PostgreSQL would compare each with each.
 */
import { sql } from '../../db/sql.ts'
import type { DirectoryCtx } from '../../http/scim-operation.ts'
import type { WorkItem } from '../../jobs/claim.ts'
import type { Statement } from '../../kernel/context.ts'
import { isMeant, userByExternalId } from '../../scim/users/directory-user-store.ts'
import { held } from './run-lease-store.ts'
import type { ChangeCount, Going } from './sync-run.ts'

/** The rows `s` of the run. */
function ofRun({ tx }: DirectoryCtx, item: WorkItem): Statement {
  return sql`s.tenant_id = ${tx.tenant_id}::uuid and s.run_id = ${item.id}::uuid`
}

/** The rows `d` of the directory: users or groups. */
function ofDirectory({ tx, identity_provider_id }: DirectoryCtx): Statement {
  return sql`d.tenant_id = ${tx.tenant_id}::uuid and d.identity_provider_id = ${identity_provider_id}::uuid`
}

/** Rows that one statement compares. */
const maxCompared = 500

/**
 * Notes what has to be done with some more people. Returns how many were compared: none where all are, undefined where the run is not ours
 * any more.
 */
export async function compareSomePeople(ctx: DirectoryCtx, item: WorkItem): Promise<number | undefined> {
  const { tx } = ctx
  const known = sql`select case when s.active and not u.active then 'enable'
      when u.active and not s.active then 'disable' when d.resource <> s.resource then 'change' else 'unchanged' end
    from directory_user d, tenant_user u where d.tenant_id = ${tx.tenant_id}::uuid and d.user_id = k.user_id
      and u.tenant_id = ${tx.tenant_id}::uuid and u.id = k.user_id`
  const [[one]] = await tx.write([
    sql<{ held: boolean; compared: number }>`with ${held(tx, item)},
      compared as (
        update sync_person s set (user_id, change, message) = (
          select c.user_id, c.change, case when c.change = 'invalid' then coalesce(s.message, ${addressTaken}) end
          from (select k.user_id, case when s.message is not null then 'invalid'
              when k.user_id is not null then (${known}) when not s.active then 'left_out'
              else (${stranger(ctx)}) end as change
            from (select (${userByExternalId(ctx, sql`s.source_id`)}) as user_id) k) c)
        where ${ofRun(ctx, item)} and s.source_id = any(array(
          select s.source_id from sync_person s join held on held.id = s.run_id
          where ${ofRun(ctx, item)} and s.change is null order by s.source_id limit ${maxCompared}))
        returning 1)
      select exists (select from held) as held, (select count(*)::integer from compared) as compared`,
  ])
  return one?.held === true ? one.compared : undefined
}

/**
 * Notes those of some more users of the directory, after this one, whom it does not have any more. Returns the last of them: null where there
 * are no more, undefined where the run is not ours any more.
 */
export async function findSomeAbsent(
  ctx: DirectoryCtx,
  item: WorkItem,
  after: string | null,
): Promise<string | null | undefined> {
  const { tx } = ctx
  const [[one]] = await tx.write([
    sql<{ held: boolean; last: string | null }>`with ${held(tx, item)},
      chunk as materialized (
        select d.user_id, d.external_id, d.resource ->> 'userName' as user_name from directory_user d
        where ${ofDirectory(ctx)} and (${after}::uuid is null or d.user_id > ${after}::uuid)
        order by d.user_id limit ${maxCompared}),
      made as (
        insert into sync_person (tenant_id, run_id, source_id, user_name, name, email, active, user_id, change)
        select ${tx.tenant_id}::uuid, held.id, coalesce(d.external_id, d.user_id::text), d.user_name, u.name, u.email,
          false, d.user_id, 'absent'
        from held cross join chunk d cross join lateral (
          select u.name, u.email from tenant_user u
          where u.tenant_id = ${tx.tenant_id}::uuid and u.id = d.user_id and u.active offset 0) u
        where not exists (
          select from sync_person s where ${ofRun(ctx, item)} and s.source_id = d.external_id offset 0)
        on conflict (tenant_id, run_id, source_id) do nothing)
      select exists (select from held) as held, (
        select d.user_id from chunk d where (select count(*) from chunk) = ${maxCompared}
        order by d.user_id desc limit 1) as last`,
  ])
  return one?.held === true ? one.last : undefined
}

const addressTaken = 'another user has the e-mail address, or one like it'

/** What is done with the person `s`, who is no user of the directory yet. Who has the address already decides it. */
function stranger(ctx: DirectoryCtx): Statement {
  const { tx, identity_provider_id } = ctx
  return sql`select case when count(*) = 0 then 'add' when count(*) > 1 or bool_or(h.in_directory) then 'invalid'
      when bool_and(h.is_meant) then 'adopt' when bool_and(h.kept_apart) then 'left_out' else 'settle' end
    from (select exists (
          select from directory_user d where d.tenant_id = u.tenant_id and d.user_id = u.id) as in_directory,
        lower(u.email) = lower(s.email) and ${isMeant(ctx, sql`s.mail_domain`)} as is_meant,
        exists (select from directory_conflict c where c.tenant_id = u.tenant_id and c.user_id = u.id
          and c.identity_provider_id = ${identity_provider_id}::uuid and c.kept_apart_at is not null) as kept_apart
      from tenant_user u where u.tenant_id = ${tx.tenant_id}::uuid and u.email_key = any(s.email_keys)
        and u.deleted_at is null) h`
}

/** Forgets what was found for groups that are not written: the people who have just been made may be their members. */
export async function forgetGroupComparison({ tx }: DirectoryCtx, item: WorkItem): Promise<boolean> {
  const [rows] = await tx.write([
    sql`with ${held(tx, item)},
      forgotten as (
        update sync_group s set change = null
        where s.tenant_id = ${tx.tenant_id}::uuid and s.run_id in (select id from held) and not s.done
          and s.change <> 'empty')
      select id from held`,
  ])
  return rows.length > 0
}

/** Groups that one statement compares: each may have many members. */
const maxGroups = 100

/** As `compareSomePeople`, of groups. */
export async function compareSomeGroups(ctx: DirectoryCtx, item: WorkItem): Promise<number | undefined> {
  const { tx } = ctx
  const wanted = wantedMembers(ctx, item, sql`s.source_id`)
  const has = sql`select m.user_id from group_member m
    where m.tenant_id = ${tx.tenant_id}::uuid and m.group_id = k.group_id`
  const [[one]] = await tx.write([
    sql<{ held: boolean; compared: number }>`with ${held(tx, item)},
      compared as (
        update sync_group s set (group_id, change) = (
          select k.group_id, case when s.message is not null then 'invalid' when k.group_id is null then 'add'
            when s.name <> (select d.display_name from directory_group d
              where d.tenant_id = ${tx.tenant_id}::uuid and d.group_id = k.group_id) then 'change'
            when exists (${wanted} except ${has}) or exists (${has} except ${wanted}) then 'change'
            else 'unchanged' end
          from (select (${groupByExternalId(ctx)}) as group_id) k)
        where ${ofRun(ctx, item)} and s.source_id = any(array(
          select s.source_id from sync_group s join held on held.id = s.run_id
          where ${ofRun(ctx, item)} and s.change is null order by s.source_id limit ${maxGroups}))
        returning 1)
      select exists (select from held) as held, (select count(*)::integer from compared) as compared`,
  ])
  return one?.held === true ? one.compared : undefined
}

/** Notes the groups with members that the directory does not have any more. Returns whether the run is still ours. */
export async function findAbsentGroups(ctx: DirectoryCtx, item: WorkItem): Promise<boolean> {
  const { tx } = ctx
  const [rows] = await tx.write([
    sql`with ${held(tx, item)},
      made as (
        insert into sync_group (tenant_id, run_id, source_id, name, group_id, change)
        select ${tx.tenant_id}::uuid, held.id, coalesce(d.external_id, d.group_id::text), d.display_name, d.group_id,
          'empty'
        from held cross join directory_group d
        where ${ofDirectory(ctx)} and exists (select from group_member m
            where m.tenant_id = ${tx.tenant_id}::uuid and m.group_id = d.group_id)
          and not exists (
            select from sync_group s where ${ofRun(ctx, item)} and s.source_id = d.external_id offset 0)
        on conflict (tenant_id, run_id, source_id) do nothing)
      select id from held`,
  ])
  return rows.length > 0
}

/** The group of the directory that is the group `s` of the run. */
function groupByExternalId({ tx, identity_provider_id }: DirectoryCtx): Statement {
  return sql`select d.group_id from directory_group d where d.tenant_id = ${tx.tenant_id}::uuid
    and d.external_id = s.source_id and (d.identity_provider_id = ${identity_provider_id}::uuid) is true`
}

/** The users whom the directory has in the group with this id there. */
export function wantedMembers(ctx: DirectoryCtx, item: WorkItem, source_id: Statement): Statement<{ user_id: string }> {
  const { tx } = ctx
  return sql<{ user_id: string }>`select w.user_id from sync_member g cross join lateral (
      ${userByExternalId(ctx, sql`g.person_source_id`)} offset 0) w
    where g.tenant_id = ${tx.tenant_id}::uuid and g.run_id = ${item.id}::uuid and g.group_source_id = ${source_id}`
}

/** How many rows of each kind of change the run has. */
export function countChanges({ tx }: DirectoryCtx, item: WorkItem): Promise<ChangeCount[]> {
  const ofRun = sql`s.tenant_id = ${tx.tenant_id} and s.run_id = ${item.id} and s.change is not null`
  return tx.read(sql<ChangeCount>`select 'person' as of, s.change, s.message is not null as failed, count(*)::integer
      from sync_person s where ${ofRun} group by 2, 3
    union all select 'group', s.change, s.message is not null, count(*)::integer
      from sync_group s where ${ofRun} group by 2, 3`)
}

/** What would go. `confirmed`: the run whose removals a person confirmed; those are left out. */
export async function countGoing(ctx: DirectoryCtx, item: WorkItem, confirmed: string | null): Promise<Going> {
  const { tx } = ctx
  const unconfirmed = (rows: Statement, changes: Statement) => sql`select count(*)::integer from ${rows} s
    where ${ofRun(ctx, item)} and s.change in (${changes}) and s.message is null and not exists (
      select from ${rows} c where c.tenant_id = ${tx.tenant_id}::uuid and c.run_id = ${confirmed}::uuid
        and c.source_id = s.source_id and c.change in (${changes}) offset 0)`
  const [going] = await tx.read(
    sql<Going>`select (${unconfirmed(sql`sync_person`, sql`'disable', 'absent'`)}) as people,
        (${unconfirmed(sql`sync_group`, sql`'empty'`)}) as groups,
        (select count(*)::integer from directory_user d where ${ofDirectory(ctx)} and (
          select u.active from tenant_user u where u.tenant_id = d.tenant_id and u.id = d.user_id)) as people_before,
        (select count(*)::integer from directory_group d where ${ofDirectory(ctx)} and exists (
          select from group_member m where m.tenant_id = d.tenant_id and m.group_id = d.group_id)) as groups_before,
        (select r.people_read from sync_run r
          where r.tenant_id = ${tx.tenant_id}::uuid and r.id = ${item.id}::uuid) as read`,
  )
  if (going === undefined) throw new Error('nothing was counted')
  return going
}

/** What a run comes to before it writes: how many changes of each kind, and who would go. */
import { sql } from '../../db/sql.ts'
import type { DirectoryCtx } from '../../http/scim-operation.ts'
import type { WorkItem } from '../../jobs/claim.ts'
import type { Statement } from '../../kernel/context.ts'
import { activeUsers } from '../../scim/users/removal-store.ts'
import type { ChangeCount, Going } from './sync-run.ts'

/** The rows `s` of the run. */
function ofRun({ tx }: DirectoryCtx, item: WorkItem): Statement {
  return sql`s.tenant_id = ${tx.tenant_id}::uuid and s.run_id = ${item.id}::uuid`
}

/** How many rows of each kind of change the run has. */
export function countChanges({ tx }: DirectoryCtx, item: WorkItem): Promise<ChangeCount[]> {
  const ofRun = sql`s.tenant_id = ${tx.tenant_id} and s.run_id = ${item.id} and s.change is not null`
  return tx.read(sql<ChangeCount>`select 'person' as of, s.change, s.message is not null as failed,
        s.change = 'absent' as absent, count(*)::integer
      from sync_person s where ${ofRun} group by 2, 3, 4
    union all select 'group', s.change, s.message is not null, s.absent, count(*)::integer
      from sync_group s where ${ofRun} group by 2, 3, 4`)
}

/** The changes by which users and groups go. */
const goes = { people: sql`('disable', 'absent')`, groups: sql`('empty')` }

/**
 * Leaves to a later run who would go beyond those whom the confirmed run named: a person has seen those alone.
 */
export async function leaveUnconfirmed({ tx }: DirectoryCtx, item: WorkItem, confirmed: string): Promise<void> {
  const why = 'the confirmed run did not name it: the next run decides'
  const leave = (rows: Statement, changes: Statement) => sql`update ${rows} s set message = ${why}
    where s.tenant_id = ${tx.tenant_id}::uuid and s.run_id = ${item.id}::uuid and s.change in ${changes}
      and s.message is null and not exists (
        select from ${rows} c where c.tenant_id = ${tx.tenant_id}::uuid and c.run_id = ${confirmed}::uuid
          and c.source_id = s.source_id and c.change in ${changes} offset 0)`
  await tx.write([leave(sql`sync_person`, goes.people), leave(sql`sync_group`, goes.groups)])
}

/** What would go, beside what went within the last hour. */
export async function countGoing(ctx: DirectoryCtx, item: WorkItem): Promise<Going> {
  const { tx } = ctx
  const going = (rows: Statement, changes: Statement) => sql`select count(*)::integer from ${rows} s
    where ${ofRun(ctx, item)} and s.change in ${changes} and s.message is null`
  const recent = sql`directory_removal r where r.tenant_id = ${tx.tenant_id}::uuid
    and r.identity_provider_id = ${ctx.identity_provider_id}::uuid and r.at > clock_timestamp() - interval '1 hour'`
  const [counted] = await tx.read(
    sql<Going>`select (${going(sql`sync_person`, goes.people)}) as people,
        (${going(sql`sync_group`, goes.groups)}) as groups,
        (select count(*)::integer from ${recent}) as recent,
        greatest((select max(r.size) from ${recent}), (
          select count(*)::integer from ${activeUsers(ctx)})) as people_before,
        (select count(*)::integer from directory_group d where ${ofDirectory(ctx)} and exists (
          select from group_member m where m.tenant_id = d.tenant_id and m.group_id = d.group_id)) as groups_before,
        (select count(*)::integer from sync_person s where ${ofRun(ctx, item)} and s.change = 'settle' and (
          select a.change from sync_person a where a.tenant_id = ${tx.tenant_id}::uuid and a.run_id = ${item.id}::uuid
            and a.source_id = (${idOfHolder(ctx)}) offset 0) in ${goes.people}) as under_other_ids,
        (select r.people_read from sync_run r
          where r.tenant_id = ${tx.tenant_id}::uuid and r.id = ${item.id}::uuid) as read`,
  )
  if (counted === undefined) throw new Error('nothing was counted')
  return counted
}

/** The id in the run of the user whom the person `s` may be: of one without an id in the directory, as for who is absent. */
function idOfHolder({ tx, identity_provider_id }: DirectoryCtx): Statement {
  return sql`select coalesce(d.external_id, d.user_id::text) from directory_user d
    where d.tenant_id = ${tx.tenant_id}::uuid and d.user_id = s.holder_id
      and (d.identity_provider_id = ${identity_provider_id}::uuid) is true`
}

/** Those whom the run removed count for an hour, as those whom a directory that pushes removes. Not those whom a person confirmed. */
export function removalsKept(ctx: DirectoryCtx, item: WorkItem): Statement {
  const { tx, identity_provider_id } = ctx
  return sql`with removed as materialized (
      select s.user_id from sync_run r join sync_person s on s.tenant_id = r.tenant_id and s.run_id = r.id
      where r.tenant_id = ${tx.tenant_id}::uuid and r.id = ${item.id}::uuid and r.confirms is null and not r.dry_run
        and s.change in ${goes.people} and s.done and s.message is null),
    size as materialized (
      select count(*) + (select count(*) from removed) as size
      from ${activeUsers(ctx)} and exists (select from removed))
    insert into directory_removal (tenant_id, identity_provider_id, id, size)
    select ${tx.tenant_id}::uuid, ${identity_provider_id}::uuid, gen_random_uuid(), size.size from removed, size`
}

/** The groups `d` of the directory. */
function ofDirectory({ tx, identity_provider_id }: DirectoryCtx): Statement {
  return sql`d.tenant_id = ${tx.tenant_id}::uuid and d.identity_provider_id = ${identity_provider_id}::uuid`
}

/**
 * Compares the people who were read with the users here, some at a time. Each row is looked up by a key, never joined: the tables were filled
 * a moment ago, and without statistics PostgreSQL would compare each with each.
 */
import { sql } from '../../db/sql.ts'
import type { DirectoryCtx } from '../../http/scim-operation.ts'
import type { WorkItem } from '../../jobs/claim.ts'
import type { Statement } from '../../kernel/context.ts'
import { userByExternalId } from '../../scim/users/directory-user-store.ts'
import { strangerMatch } from '../../scim/users/holder-store.ts'
import { held } from './run-lease-store.ts'

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
 * Notes what has to be done with some more people. Returns how many were compared: none where all are, undefined if the lease was lost.
 */
export async function compareSomePeople(ctx: DirectoryCtx, item: WorkItem): Promise<number | undefined> {
  const { tx } = ctx
  const known = sql`select case when s.active and not u.active then 'enable'
      when u.active and not s.active then 'disable' when d.resource <> s.resource then 'change' else 'unchanged' end
    from directory_user d, tenant_user u where d.tenant_id = ${tx.tenant_id}::uuid and d.user_id = k.user_id
      and u.tenant_id = ${tx.tenant_id}::uuid and u.id = k.user_id`
  const of = { external_id: sql`s.source_id`, name_key: sql`s.user_name_key`, isHere: isHere(ctx, item) }
  const stranger = sql`select * from (${strangerMatch(ctx, of)}) m
    where k.user_id is null and s.active and s.message is null offset 0`
  const [[one]] = await tx.write([
    sql<{ held: boolean; compared: number }>`with ${held(tx, item)},
      compared as (
        update sync_person s set (user_id, change, holder_id, message) = (
          select c.user_id, c.change, case when c.change in ('settle', 'left_out') then c.holder_id end,
            case when c.change = 'invalid' then coalesce(s.message, ${addressTaken}) end
          from (select k.user_id, m.holder_id, case when k.user_id is not null and not s.active then (${known})
              when s.message is not null then 'invalid' when k.user_id is not null then (${known})
              when not s.active then 'left_out' when m.match = 'taken' then 'invalid' else m.match end as change
            from (select (${userByExternalId(ctx, sql`s.source_id`)}) as user_id offset 0) k
            left join lateral (${stranger}) m on true) c)
        where ${ofRun(ctx, item)} and s.source_id = any(array(
          select s.source_id from sync_person s join held on held.id = s.run_id
          where ${ofRun(ctx, item)} and s.change is null order by s.source_id limit ${maxCompared}))
        returning 1)
      select exists (select from held) as held, (select count(*)::integer from compared) as compared`,
  ])
  return one?.held === true ? one.compared : undefined
}

/**
 * Notes those of some more users of the directory, after this one, whom it no longer has. Returns the last of them: null where there are no
 * more, undefined if the lease was lost.
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

const addressTaken = 'another user has the user name or the e-mail address, or one like it'

/** Whether the run has read the user `d`, who is not disabled in the directory. */
function isHere({ tx }: DirectoryCtx, item: WorkItem): Statement {
  return sql`exists (select from sync_person p where p.tenant_id = ${tx.tenant_id}::uuid
    and p.run_id = ${item.id}::uuid and p.source_id = d.external_id and p.active offset 0)`
}

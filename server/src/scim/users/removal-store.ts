import { sql } from '../../db/sql.ts'
import { emit } from '../../events/emit.ts'
import type { DirectoryCtx } from '../../http/scim-operation.ts'
import type { Statement } from '../../kernel/context.ts'
import { newId } from '../../kernel/id.ts'
import type { Removals } from './removal.ts'

const anHour = sql`interval '1 hour'`
/** Whether a provider refuses many removals. A misspelled wish is for that: to let them through needs no word. */
const refusesMany = sql`coalesce(config ->> 'mass_removals', 'notify') <> 'notify'`

/** The users `d` whom the directory has not stopped, as what follows `from`: also one who is suspended here may be removed. */
export function activeUsers({ tx, identity_provider_id }: DirectoryCtx): Statement {
  return sql`directory_user d
    where d.tenant_id = ${tx.tenant_id}::uuid and d.identity_provider_id = ${identity_provider_id}::uuid
      and (select u.active from tenant_user u where u.tenant_id = d.tenant_id and u.id = d.user_id)`
}

/**
 * Where the tenant wants many removals refused, lets one after another in: each counts those before it. Before the lock of the user, in the
 * order in which a deletion of the provider locks.
 */
export async function lockRemovals({ tx, identity_provider_id }: DirectoryCtx): Promise<void> {
  await tx.write([
    sql`select from identity_provider where tenant_id = ${tx.tenant_id} and id = ${identity_provider_id}
      and ${refusesMany} for no key update`,
  ])
}

/** Of the locks of this kind, one for each directory. */
const counting = 79

/**
 * Counts removals, after the users were stopped, in the transaction that stops them. `refuses`: the tenant wants such removals refused. The
 * size of the directory is counted at the first removal of an hour alone, user by user: after an import PostgreSQL does not know yet how many
 * there are, and a join would take seconds.
 */
export async function countRemovals(ctx: DirectoryCtx, count: number): Promise<Removals & { refuses: boolean }> {
  const { tx, identity_provider_id } = ctx
  const theirs = sql`r.tenant_id = ${tx.tenant_id}::uuid and r.identity_provider_id = ${identity_provider_id}::uuid`
  const ids = Array.from({ length: count }, newId)
  const [, , , [counted]] = await tx.write([
    // Until the transaction ends: of several that are under way, the later one counts those of the earlier ones too.
    sql`select pg_advisory_xact_lock(${counting}::integer, hashtext(${`${tx.tenant_id} ${identity_provider_id}`}))`,
    sql`delete from directory_removal r where ${theirs} and r.at < clock_timestamp() - ${anHour}`,
    sql`with known as materialized (select coalesce(
        (select r.size from directory_removal r where ${theirs} order by r.at limit 1),
        (select ${count}::integer + count(*) from ${activeUsers(ctx)})) as size)
      insert into directory_removal (tenant_id, identity_provider_id, id, size)
      select ${tx.tenant_id}::uuid, ${identity_provider_id}::uuid, id, known.size
      from known, unnest(${ids}::uuid[]) as id`,
    sql<Removals & { refuses: boolean }>`select count(*)::integer as removed, max(r.size) as size,
        coalesce((select ${refusesMany} from identity_provider i
          where i.tenant_id = ${tx.tenant_id}::uuid and i.id = ${identity_provider_id}::uuid), false) as refuses
      from directory_removal r where ${theirs}`,
  ])
  return counted ?? { removed: 0, size: 0, refuses: false }
}

/** Emits that a directory removes many users, once an hour: the owners are notified of it. */
export async function reportRemovals(ctx: DirectoryCtx, { removed, size }: Removals, refused: boolean): Promise<void> {
  const { tx, identity_provider_id: id } = ctx
  const data = { removed, size, refused }
  const event = {
    type: 'identity_provider.mass_removal',
    subject_type: 'identity_provider',
    subject_id: id,
    data,
  } as const
  await tx.write([
    sql`with changed as (
        update identity_provider set mass_removal_at = clock_timestamp()
        where tenant_id = ${tx.tenant_id}::uuid and id = ${id}::uuid
          and (mass_removal_at is null or mass_removal_at < clock_timestamp() - ${anHour})
        returning id),
      emitted as (${emit(ctx, event, sql`changed`)})
      select id from changed`,
  ])
}

/** Emits that the directory was refused the removal of the last owner, once a day: directories try again and again. */
export async function reportKeptOwner(ctx: DirectoryCtx, user_id: string): Promise<void> {
  const { tx, identity_provider_id } = ctx
  const data = { identity_provider_id }
  const event = { type: 'user.removal_refused', subject_type: 'user', subject_id: user_id, data } as const
  await tx.write([
    sql`with due as (select where not exists (${eventsOfDay(ctx, user_id)})),
      emitted as (${emit(ctx, event, sql`due`)})
      select from due`,
  ])
}

function eventsOfDay({ tx }: DirectoryCtx, user_id: string): Statement {
  return sql`select from event e where e.tenant_id = ${tx.tenant_id}::uuid and e.subject_id = ${user_id}::text
    and e.type = 'user.removal_refused' and e.at > clock_timestamp() - interval '1 day'`
}

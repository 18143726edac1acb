import { sql } from '../../db/sql.ts'
import { emit } from '../../events/emit.ts'
import type { Statement, Tx, WorkCtx } from '../../kernel/context.ts'
import type { PageRequest } from '../../kernel/page.ts'
import type { Resource } from '../read-resource.ts'

/** A conflict as stored. */
export type StoredConflict = {
  id: string
  resource: Resource
  user_id: string
  holder_name: string
  holder_active: boolean
  of_directory: boolean
  kept_apart: boolean
  created_at: string
  seen_at: string
}

const columns = sql`c.id, c.resource, c.user_id, u.name as holder_name, u.active as holder_active,
  d.user_id is not null as of_directory, c.kept_apart_at is not null as kept_apart, c.created_at, c.seen_at`

/** The conflicts `c` of a directory, with who has the address. Settled by itself: a user `d` whom a directory manages, and has not stopped. */
function settleable(tx: Tx, identity_provider_id: string): Statement {
  return sql`directory_conflict c
    join tenant_user u on u.tenant_id = c.tenant_id and u.id = c.user_id and u.deleted_at is null
    left join directory_user d on d.tenant_id = c.tenant_id and d.user_id = c.user_id
    where c.tenant_id = ${tx.tenant_id} and c.identity_provider_id = ${identity_provider_id}
      and (d.user_id is null or d.identity_provider_id = c.identity_provider_id and not u.active)`
}

/** One page of the conflicts of a directory, in the order in which they were found. */
export function listConflictsPage(tx: Tx, identity_provider_id: string, page: PageRequest): Promise<StoredConflict[]> {
  const after = page.after === undefined ? sql`` : sql` and c.id > ${page.after[0]}::uuid`
  return tx.read(sql<StoredConflict>`select ${columns} from ${settleable(tx, identity_provider_id)}${after}
    order by c.id limit ${page.limit + 1}`)
}

/** Whether the tenant has this identity provider. */
export async function hasProvider(tx: Tx, id: string): Promise<boolean> {
  const found = await tx.read(sql`select from identity_provider where tenant_id = ${tx.tenant_id} and id = ${id}`)
  return found.length > 0
}

/** The same, and keeps it from being deleted until the transaction ends: whether it is switched on. Undefined where there is none. */
export async function shareProvider(tx: Tx, id: string): Promise<boolean | undefined> {
  const [found] = await tx.read(sql<{ enabled: boolean }>`select i.enabled from identity_provider i
    where i.tenant_id = ${tx.tenant_id} and i.id = ${id} for key share`)
  return found?.enabled
}

export function findConflict(tx: Tx, identity_provider_id: string, id: string): Promise<StoredConflict | undefined> {
  return oneConflict(tx, identity_provider_id, id, sql``)
}

/** Locks a conflict until the transaction ends; only inside `interactive`. */
export function lockConflict(tx: Tx, identity_provider_id: string, id: string): Promise<StoredConflict | undefined> {
  return oneConflict(tx, identity_provider_id, id, sql` for update of c`)
}

async function oneConflict(
  tx: Tx,
  identity_provider_id: string,
  id: string,
  locking: Statement,
): Promise<StoredConflict | undefined> {
  const which = sql`${settleable(tx, identity_provider_id)} and c.id = ${id}${locking}`
  const [found] = await tx.read(sql<StoredConflict>`select ${columns} from ${which}`)
  return found
}

/** Ends a locked conflict: with a user, or by keeping the two apart; and emits the event. */
export async function saveSettlement(
  ctx: WorkCtx,
  identity_provider_id: string,
  { id, user_id }: { id: string; user_id: string | null },
): Promise<void> {
  const { tx, actor } = ctx
  const data = { conflict_id: id, user_id }
  const about = { subject_type: 'identity_provider', subject_id: identity_provider_id } as const
  const event = { type: 'identity_provider.conflict_settled', ...about, data } as const
  const which = sql`tenant_id = ${tx.tenant_id} and id = ${id}`
  await tx.write([
    user_id === null
      ? sql`update directory_conflict set kept_apart_by = ${actor.user_id}, kept_apart_at = clock_timestamp()
          where ${which}`
      : sql`delete from directory_conflict where ${which}`,
    emit(ctx, event),
  ])
}

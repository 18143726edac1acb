import { sql } from '../db/sql.ts'
import type { UnrestrictedTx } from '../db/transaction.ts'

/** Any fixed number. The lock is shared for wrapping a key, exclusive for changing the root key in use. */
export const wrapping = 7_255_104

/** The ids of the root keys recorded in this database, the one in use first. */
export async function listRootKeyIds(service: UnrestrictedTx): Promise<string[]> {
  const rows = await service.read(sql<{ id: string }>`select id from root_key order by used_since desc, id`)
  return rows.map(({ id }) => id)
}

/** Records the first root key of a database, when there is none yet. */
export async function insertFirstRootKey(service: UnrestrictedTx, id: string): Promise<void> {
  await service.write([
    sql`select pg_advisory_xact_lock(${wrapping}::bigint)`,
    sql`insert into root_key (id) select ${id}::text where not exists (select from root_key)`,
  ])
}

/** Makes every process wrap with this key from now on. No process wraps with another key during the change. */
export async function putRootKeyInUse(service: UnrestrictedTx, id: string): Promise<void> {
  await service.write([
    sql`select pg_advisory_xact_lock(${wrapping}::bigint)`,
    sql`insert into root_key (id) values (${id})
      on conflict (id) do update set used_since = clock_timestamp()
      where root_key.id <> (select id from root_key order by used_since desc, id limit 1)`,
  ])
}

/** Forgets a root key. Foreign keys make this throw while anything is wrapped with it. */
export async function deleteRootKey(service: UnrestrictedTx, id: string): Promise<void> {
  await service.write([sql`delete from root_key where id = ${id}`])
}

/** How many tenants' data keys are wrapped with each root key. */
export function countTenantKeys(work: UnrestrictedTx): Promise<{ root_key_id: string; keys: number }[]> {
  return work.read(
    sql<{ root_key_id: string; keys: number }>`select root_key_id, count(*)::integer as keys from tenant_key
      group by root_key_id`,
  )
}

/** A page of tenant ids, in order. */
export async function listTenantsAfter(work: UnrestrictedTx, after: string, limit: number): Promise<string[]> {
  const rows = await work.read(
    sql<{ id: string }>`select id from tenant where id > ${after}::uuid order by id limit ${limit}`,
  )
  return rows.map(({ id }) => id)
}

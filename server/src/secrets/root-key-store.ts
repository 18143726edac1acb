import { sql } from '../db/sql.ts'
import type { UnrestrictedTx } from '../db/transaction.ts'

/** Any fixed number. Shared by whoever wraps a key, alone for whoever changes the root key in use. */
export const wrapping = 7_255_104

/** The ids of the root keys under which something is kept here, the one in use first. */
export async function listRootKeyIds(service: UnrestrictedTx): Promise<string[]> {
  const rows = await service.read(sql<{ id: string }>`select id from root_key order by used_since desc, id`)
  return rows.map(({ id }) => id)
}

/** Notes the first root key of a database, where there is none yet. */
export async function insertFirstRootKey(service: UnrestrictedTx, id: string): Promise<void> {
  await service.write([
    sql`select pg_advisory_xact_lock(${wrapping}::bigint)`,
    sql`insert into root_key (id) select ${id}::text where not exists (select from root_key)`,
  ])
}

/** From here on every process wraps with this one: none is wrapping with another while this changes. */
export async function putRootKeyInUse(service: UnrestrictedTx, id: string): Promise<void> {
  await service.write([
    sql`select pg_advisory_xact_lock(${wrapping}::bigint)`,
    sql`insert into root_key (id) values (${id})
      on conflict (id) do update set used_since = clock_timestamp()
      where root_key.id <> (select id from root_key order by used_since desc, id limit 1)`,
  ])
}

/** Forgets a root key. Throws while anything is wrapped with it: the foreign keys see to that. */
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

/** A page of the tenants' ids, in their order. */
export async function listTenantsAfter(work: UnrestrictedTx, after: string, limit: number): Promise<string[]> {
  const rows = await work.read(
    sql<{ id: string }>`select id from tenant where id > ${after}::uuid order by id limit ${limit}`,
  )
  return rows.map(({ id }) => id)
}

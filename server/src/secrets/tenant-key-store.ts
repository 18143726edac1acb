import { sql } from '../db/sql.ts'
import type { Tx } from '../kernel/context.ts'
import { wrapping } from './root-key-store.ts'
import type { WrappedKey } from './tenant-key.ts'

/** How many of a tenant's data keys are looked at: each change of keys makes one, and takes away those that are done with. */
const maxKeys = 100

/** A tenant's data keys, the newest first. `settled`: made before this transaction, so that it is there for good. */
export async function listTenantKeys(tx: Tx): Promise<(WrappedKey & { settled: boolean })[]> {
  return tx.read(
    sql<WrappedKey & { settled: boolean }>`select version, root_key_id, wrapped_key,
        created_at < transaction_timestamp() as settled
      from tenant_key where tenant_id = ${tx.tenant_id} order by version desc limit ${maxKeys}`,
  )
}

/**
 * Keeps a new data key, where its version is free and its root key is the one in use. The first root key of a database is
 * noted along the way. Answers which root key is in use.
 */
export async function insertTenantKey(tx: Tx, key: WrappedKey): Promise<string> {
  const { version, root_key_id, wrapped_key } = key
  const [, , , inUse] = await tx.write([
    sql`select pg_advisory_xact_lock_shared(${wrapping}::bigint)`,
    sql`insert into root_key (id) select ${root_key_id}::text where not exists (select from root_key)
      on conflict (id) do nothing`,
    sql`insert into tenant_key (tenant_id, version, root_key_id, wrapped_key)
      select ${tx.tenant_id}::uuid, ${version}::integer, ${root_key_id}::text, ${wrapped_key}::text
      where ${root_key_id}::text = (select id from root_key order by used_since desc, id limit 1)
      on conflict (tenant_id, version) do nothing`,
    sql<{ id: string }>`select id from root_key order by used_since desc, id limit 1`,
  ])
  const [row] = inUse
  if (row === undefined) throw new Error('no root key is noted')
  return row.id
}

/** Keeps a data key as it is wrapped now, where nobody wrapped it anew meanwhile. Answers whether it did. */
export async function replaceWrapping(tx: Tx, before: WrappedKey, after: WrappedKey): Promise<boolean> {
  const [changed] = await tx.write([
    sql`update tenant_key set root_key_id = ${after.root_key_id}, wrapped_key = ${after.wrapped_key}
      where tenant_id = ${tx.tenant_id} and version = ${before.version} and wrapped_key = ${before.wrapped_key}
      returning version`,
  ])
  return changed.length > 0
}

/** Takes away a data key that nothing is under, an hour after its successor came: nobody seals with it any more. */
export async function deleteTenantKey(tx: Tx, version: number): Promise<boolean> {
  const [gone] = await tx.write([
    sql`delete from tenant_key old where tenant_id = ${tx.tenant_id} and version = ${version}
      and exists (select from tenant_key newer where newer.tenant_id = ${tx.tenant_id} and newer.version > old.version
        and newer.created_at < clock_timestamp() - interval '1 hour')
      returning version`,
  ])
  return gone.length > 0
}

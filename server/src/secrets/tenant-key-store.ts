import { sql } from '../db/sql.ts'
import type { Tx } from '../kernel/context.ts'
import { wrapping } from './root-key-store.ts'
import type { WrappedKey } from './tenant-key.ts'

/** The maximum number of a tenant's data keys that are read. Each rotation adds one and removes those no longer used. */
const maxKeys = 100

/** A tenant's data keys, the newest first. `settled`: made before this transaction, so that no rollback removes it. */
export async function listTenantKeys(tx: Tx): Promise<(WrappedKey & { settled: boolean })[]> {
  return tx.read(
    sql<WrappedKey & { settled: boolean }>`select version, root_key_id, wrapped_key,
        created_at < transaction_timestamp() as settled
      from tenant_key where tenant_id = ${tx.tenant_id} order by version desc limit ${maxKeys}`,
  )
}

/**
 * Inserts a new data key when its version is free and its root key is the one in use. In a database without a root key it
 * records this one as the first. Returns the id of the root key in use.
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
  if (row === undefined) throw new Error('no root key is recorded')
  return row.id
}

/** Replaces the wrapping of a data key unless it changed meanwhile. Returns whether it did. */
export async function replaceWrapping(tx: Tx, before: WrappedKey, after: WrappedKey): Promise<boolean> {
  const [changed] = await tx.write([
    sql`update tenant_key set root_key_id = ${after.root_key_id}, wrapped_key = ${after.wrapped_key}
      where tenant_id = ${tx.tenant_id} and version = ${before.version} and wrapped_key = ${before.wrapped_key}
      returning version`,
  ])
  return changed.length > 0
}

/** Deletes an unused data key once a newer one is an hour old, when no process seals with the older one any more. */
export async function deleteTenantKey(tx: Tx, version: number): Promise<boolean> {
  const [gone] = await tx.write([
    sql`delete from tenant_key old where tenant_id = ${tx.tenant_id} and version = ${version}
      and exists (select from tenant_key newer where newer.tenant_id = ${tx.tenant_id} and newer.version > old.version
        and newer.created_at < clock_timestamp() - interval '1 hour')
      returning version`,
  ])
  return gone.length > 0
}

import { sql } from '../db/sql.ts'
import type { UnrestrictedTx } from '../db/transaction.ts'
import type { SealedDiscoveryKey, StoredDiscoveryKey, StoredSpan } from './discovery-key.ts'

/** Undefined before the first start of a service on the database. */
export async function findDiscoveryKey(service: UnrestrictedTx): Promise<StoredDiscoveryKey | undefined> {
  const [found] = await service.read(
    sql<StoredDiscoveryKey>`select sealed_key, root_key_id, ids_from, ids_until from discovery_key`,
  )
  return found
}

/** The span for ids of tenants. Before the first start of a service, it is the last year. */
export async function findIdSpan(service: UnrestrictedTx): Promise<StoredSpan> {
  const [found] = await service.read(sql<StoredSpan>`
    select coalesce(k.ids_from, now() - interval '365 days') as ids_from, coalesce(k.ids_until, now()) as ids_until
    from (select) one left join discovery_key k on true`)
  if (found === undefined) throw new Error('a span of ids was looked up and not returned')
  return found
}

/**
 * Inserts the key when there is none yet. The span of ids ends now, and covers the oldest tenant. It begins some random days before that:
 * else the oldest tenant would be known by its place at the very beginning.
 */
export async function insertDiscoveryKey(
  service: UnrestrictedTx,
  { sealed_key, root_key_id }: SealedDiscoveryKey,
  oldest: Date | undefined,
): Promise<void> {
  await service.write([
    sql`insert into discovery_key (sealed_key, root_key_id, ids_from, ids_until)
      select ${sealed_key}::text, ${root_key_id}::text,
        least(now() - interval '365 days', ${oldest?.toISOString() ?? null}::timestamptz)
          - random() * interval '90 days', now()
      on conflict do nothing`,
  ])
}

/** Replaces the seal of the key unless it changed meanwhile. */
export async function replaceDiscoverySeal(
  service: UnrestrictedTx,
  before: SealedDiscoveryKey,
  { sealed_key, root_key_id }: SealedDiscoveryKey,
): Promise<void> {
  await service.write([
    sql`update discovery_key set sealed_key = ${sealed_key}, root_key_id = ${root_key_id}
      where sealed_key = ${before.sealed_key}`,
  ])
}

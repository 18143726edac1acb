import { sql } from '../db/sql.ts'
import type { UnwalledTx } from '../db/transaction.ts'

/** A token key as it is kept: the private part sealed. `public_jwk` is for people to see, it is never trusted. */
export type StoredSigningKey = { kid: string; sealed_private_jwk: string; public_jwk: Record<string, unknown> }

/** Every token key, the current one first. */
export function listSigningKeys(service: UnwalledTx): Promise<StoredSigningKey[]> {
  return service.read(
    sql<StoredSigningKey>`select kid, sealed_private_jwk, public_jwk from signing_key order by created_at desc, kid desc`,
  )
}

/** Whether anything was sealed here before: a token key is the first that is. */
export async function hasSigningKey(service: UnwalledTx): Promise<boolean> {
  return (await service.read(sql`select from signing_key limit 1`)).length > 0
}

/** Any fixed number: processes that start together take turns, so that they end with one key. */
const oneAtATime = 7_255_102

/** Keeps the key where there is none yet. */
export async function insertFirstSigningKey(service: UnwalledTx, key: StoredSigningKey): Promise<void> {
  await service.write([
    sql`select pg_advisory_xact_lock(${oneAtATime}::bigint)`,
    sql`insert into signing_key (kid, public_jwk, sealed_private_jwk)
      select ${key.kid}::text, ${JSON.stringify(key.public_jwk)}::jsonb, ${key.sealed_private_jwk}::text
      where not exists (select from signing_key)`,
  ])
}

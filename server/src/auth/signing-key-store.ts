import { sql } from '../db/sql.ts'
import type { UnrestrictedTx } from '../db/transaction.ts'
import type { NewSigningKey, StoredSigningKey } from './signing-key.ts'

/** Every token key that is not retired, the last to sign first. */
export function listSigningKeys(service: UnrestrictedTx): Promise<StoredSigningKey[]> {
  return service.read(
    sql<StoredSigningKey>`select kid, sealed_private_jwk, root_key_id, signs_from, retires_at from signing_key
      where retires_at is null or retires_at > clock_timestamp()
      order by signs_from desc, kid desc`,
  )
}

/** Whether anything was sealed in this database before: a token key is the first sealed value. */
export async function hasSigningKey(service: UnrestrictedTx): Promise<boolean> {
  return (await service.read(sql`select from signing_key limit 1`)).length > 0
}

/** Any fixed number. Processes that start together run one at a time, so that they end with one key. */
const oneAtATime = 7_255_102

/** Inserts the key when there is none yet. */
export async function insertFirstSigningKey(service: UnrestrictedTx, key: NewSigningKey): Promise<void> {
  await service.write([
    sql`select pg_advisory_xact_lock(${oneAtATime}::bigint)`,
    sql`insert into signing_key (kid, public_jwk, sealed_private_jwk, root_key_id)
      select ${key.kid}::text, ${JSON.stringify(key.public_jwk)}::jsonb, ${key.sealed_private_jwk}::text,
        ${key.root_key_id}::text
      where not exists (select from signing_key)`,
  ])
}

/**
 * Inserts a key that begins to sign in `leadSeconds`, after all existing keys. They retire `outliveSeconds` later. Returns
 * both times. Keys that retired over a day ago are deleted.
 */
export async function insertNextSigningKey(
  service: UnrestrictedTx,
  key: NewSigningKey,
  { leadSeconds, outliveSeconds }: { leadSeconds: number; outliveSeconds: number },
): Promise<{ signs_from: string; others_retire_at: string }> {
  const [, [added]] = await service.write([
    sql`select pg_advisory_xact_lock(${oneAtATime}::bigint)`,
    sql<{ signs_from: string; others_retire_at: string }>`
      with added as (
        insert into signing_key (kid, public_jwk, sealed_private_jwk, root_key_id, signs_from)
        select ${key.kid}::text, ${JSON.stringify(key.public_jwk)}::jsonb, ${key.sealed_private_jwk}::text,
          ${key.root_key_id}::text,
          greatest(clock_timestamp() + make_interval(secs => ${leadSeconds}::integer),
            (select max(signs_from) + interval '1 millisecond' from signing_key))
        returning signs_from, signs_from + make_interval(secs => ${outliveSeconds}::integer) as others_retire_at),
      retired as (
        update signing_key set retires_at = added.others_retire_at from added
        where coalesce(signing_key.retires_at > added.others_retire_at, true)),
      gone as (delete from signing_key where retires_at < clock_timestamp() - interval '1 day')
      select signs_from, others_retire_at from added`,
  ])
  if (added === undefined) throw new Error('the new token key was not inserted')
  return added
}

/** Whether every key that began to sign before this one has retired, by the database's clock. */
export async function hasTakenOver(service: UnrestrictedTx, kid: string): Promise<boolean> {
  const valid = await service.read(
    sql`select from signing_key older join signing_key newer on older.signs_from < newer.signs_from
      where newer.kid = ${kid} and coalesce(older.retires_at > clock_timestamp(), true) limit 1`,
  )
  return valid.length === 0
}

/** Replaces a token key's sealed text unless it changed meanwhile. Returns whether it did. */
export async function replaceSealedKey(
  service: UnrestrictedTx,
  before: StoredSigningKey,
  after: { sealed_private_jwk: string; root_key_id: string },
): Promise<boolean> {
  const [changed] = await service.write([
    sql`update signing_key set sealed_private_jwk = ${after.sealed_private_jwk}, root_key_id = ${after.root_key_id}
      where kid = ${before.kid} and sealed_private_jwk = ${before.sealed_private_jwk}
      returning kid`,
  ])
  return changed.length > 0
}

/** Every token key, retired or not. */
export function listAllSigningKeys(service: UnrestrictedTx): Promise<StoredSigningKey[]> {
  return service.read(
    sql<StoredSigningKey>`select kid, sealed_private_jwk, root_key_id, signs_from, retires_at from signing_key
      order by signs_from desc, kid desc`,
  )
}

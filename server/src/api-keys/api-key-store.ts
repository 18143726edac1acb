import { allOf, sql } from '../db/sql.ts'
import type { UnwalledTx } from '../db/transaction.ts'
import { emit } from '../events/emit.ts'
import type { Tx, WorkCtx } from '../kernel/context.ts'
import type { PageAsk } from '../kernel/page.ts'
import { scopesAsArray } from '../users/user-store.ts'
import type { ApiKey } from './api-key.ts'

const record = sql`id, name, scopes, created_by, last_used_at, expires_at, revoked_at, revoked_by, created_at`

export type ApiKeyToInsert = {
  id: string
  name: string
  secret_hash: Buffer
  scopes: readonly string[]
  created_by: string
  expires_at: string | null
}

/** Keeps a new key and tells of it. */
export async function insertApiKey(ctx: WorkCtx, key: ApiKeyToInsert): Promise<ApiKey> {
  const event = {
    type: 'api_key.created',
    subject_type: 'api_key',
    subject_id: key.id,
    data: { scopes: key.scopes, created_by: key.created_by, expires_at: key.expires_at },
  } as const
  const [[made]] = await ctx.tx.write([
    sql<ApiKey>`with made as (
        insert into api_key (tenant_id, id, name, secret_hash, scopes, created_by, expires_at)
        values (${ctx.tx.tenant_id}, ${key.id}, ${key.name}, ${key.secret_hash}, ${key.scopes}, ${key.created_by},
          ${key.expires_at})
        returning ${record}),
      told as (${emit(ctx, event, sql`made`)})
      select * from made`,
  ])
  if (made === undefined) throw new Error('a key was inserted and not returned')
  return made
}

/** One page, the newest first. */
export function listApiKeysPage(tx: Tx, page: PageAsk): Promise<ApiKey[]> {
  const conditions = [sql`tenant_id = ${tx.tenant_id}`]
  if (page.after !== undefined) conditions.push(sql`id < ${page.after[0]}::uuid`)
  return tx.read(sql<ApiKey>`select ${record} from api_key
    where ${allOf(conditions)} order by id desc limit ${page.limit + 1}`)
}

export async function findApiKey(tx: Tx, id: string): Promise<ApiKey | undefined> {
  const [key] = await tx.read(
    sql<ApiKey>`select ${record} from api_key where tenant_id = ${tx.tenant_id} and id = ${id}`,
  )
  return key
}

/** Revokes a live key and tells of it; undefined where there is none, or it was revoked before. */
export async function revokeLiveApiKey(ctx: WorkCtx, id: string): Promise<ApiKey | undefined> {
  const event = { type: 'api_key.revoked', subject_type: 'api_key', subject_id: id } as const
  const [[revoked]] = await ctx.tx.write([
    sql<ApiKey>`with changed as (
        update api_key set revoked_at = clock_timestamp(), revoked_by = ${ctx.actor.user_id}::uuid
        where tenant_id = ${ctx.tx.tenant_id} and id = ${id} and revoked_at is null
        returning ${record}),
      told as (${emit(ctx, event, sql`changed`)})
      select * from changed`,
  ])
  return revoked
}

/** The tenant that a key belongs to, by its id alone: the key's text names none. */
export async function findTenantOfKey(work: UnwalledTx, id: string): Promise<string | undefined> {
  const [row] = await work.read(sql<{ tenant_id: string }>`select tenant_id from api_key where id = ${id}`)
  return row?.tenant_id
}

/** A live key with the standing of whom it speaks for, by the database's clock. */
export type KeyStanding = {
  secret_hash: Buffer
  key_scopes: string[]
  user_id: string
  user_scopes: string[]
  now: string
  /** Its `last_used_at` is older than a minute. */
  unused_lately: boolean
}

/** Undefined for a key that is not there, revoked or expired, or whose maker is no longer active. */
export async function findKeyStanding(tx: Tx, id: string): Promise<KeyStanding | undefined> {
  const [standing] = await tx.read(sql<KeyStanding>`
    select k.secret_hash, k.scopes as key_scopes, u.id as user_id, ${scopesAsArray(tx)} as user_scopes,
      clock_timestamp() as now,
      (k.last_used_at is null or k.last_used_at < clock_timestamp() - interval '1 minute') as unused_lately
    from api_key k join tenant_user u on u.tenant_id = k.tenant_id and u.id = k.created_by
    where k.tenant_id = ${tx.tenant_id} and k.id = ${id} and k.revoked_at is null
      and (k.expires_at is null or k.expires_at > clock_timestamp()) and u.active`)
  return standing
}

/** Notes that a key is in use, at most once a minute. */
export async function touchApiKey(tx: Tx, id: string): Promise<void> {
  await tx.write([
    sql`update api_key set last_used_at = clock_timestamp()
      where tenant_id = ${tx.tenant_id} and id = ${id}
        and (last_used_at is null or last_used_at < clock_timestamp() - interval '1 minute')`,
  ])
}

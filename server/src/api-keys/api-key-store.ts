import { sql } from '../db/sql.ts'
import type { UnrestrictedTx } from '../db/transaction.ts'
import { emit } from '../events/emit.ts'
import { conferredByDirectory } from '../groups/group-member-store.ts'
import type { Statement, Tx, WorkCtx } from '../kernel/context.ts'
import { isActive, isTenantSuspended } from '../users/active-store.ts'
import { scopesAsArray } from '../users/user-store.ts'
import { type ApiKey, type ApiKeyRow, apiKeyOf, scimMakerScopes } from './api-key.ts'
import type { KeyKind } from './api-key-text.ts'

export const apiKeyRecord = sql`id, name, scopes, created_by, last_used_at, expires_at, revoked_at, revoked_by,
  created_at, identity_provider_id`

export type ApiKeyToInsert = {
  id: string
  name: string
  secret_hash: Buffer
  scopes: readonly string[]
  created_by: string
  expires_at: string | null
}

/** Inserts a new key for the API and emits the event. */
export async function insertApiKey(ctx: WorkCtx, key: ApiKeyToInsert): Promise<ApiKey> {
  const made = await insertKey(ctx, { ...key, kind: 'api', identity_provider_id: null }, sql`true`)
  if (made === undefined) throw new Error('a key was inserted and not returned')
  return made
}

/**
 * Inserts a new SCIM key and emits the event. Undefined when the actor lacks a scope that the creator of one needs: one of
 * `scimMakerScopes`, or one that the groups of the provider give or its users hold at this moment.
 * @throws Problem 422 when the tenant has no such identity provider
 */
export function insertScimKey(
  ctx: WorkCtx,
  key: ApiKeyToInsert & { identity_provider_id: string },
): Promise<ApiKey | undefined> {
  const conferred = conferredByDirectory(ctx.tx, key.identity_provider_id)
  const needed = sql`(${[...scimMakerScopes]}::text[] || array(${conferred}))`
  return insertKey(ctx, { ...key, kind: 'scim' }, sql`${needed} <@ ${[...ctx.actor.scopes]}::text[]`)
}

type KeyToInsert = ApiKeyToInsert & { kind: KeyKind; identity_provider_id: string | null }

async function insertKey(ctx: WorkCtx, key: KeyToInsert, condition: Statement): Promise<ApiKey | undefined> {
  const { identity_provider_id } = key
  const link = identity_provider_id !== null && { identity_provider_id }
  const event = {
    type: 'api_key.created',
    subject_type: 'api_key',
    subject_id: key.id,
    data: { scopes: key.scopes, created_by: key.created_by, expires_at: key.expires_at, ...link },
  } as const
  const [[made]] = await ctx.tx.write([
    sql<ApiKeyRow>`with made as (
        insert into api_key (tenant_id, id, name, secret_hash, scopes, created_by, expires_at, kind,
          identity_provider_id)
        select ${ctx.tx.tenant_id}::uuid, ${key.id}::uuid, ${key.name}::text, ${key.secret_hash}::bytea,
          ${key.scopes}::text[], ${key.created_by}::uuid, ${key.expires_at}::timestamptz, ${key.kind}::text,
          ${identity_provider_id}::uuid
        where ${condition}
        returning ${apiKeyRecord}),
      emitted as (${emit(ctx, event, sql`made`)})
      select * from made`,
  ])
  return made && apiKeyOf(made)
}

export async function findApiKey(tx: Tx, id: string): Promise<ApiKey | undefined> {
  const [key] = await tx.read(
    sql<ApiKeyRow>`select ${apiKeyRecord} from api_key where tenant_id = ${tx.tenant_id} and id = ${id}`,
  )
  return key && apiKeyOf(key)
}

/** Revokes a live key and emits the event; undefined when there is none, or it was revoked before. */
export async function revokeLiveApiKey(ctx: WorkCtx, id: string): Promise<ApiKey | undefined> {
  const event = { type: 'api_key.revoked', subject_type: 'api_key', subject_id: id } as const
  const [[revoked]] = await ctx.tx.write([
    sql<ApiKeyRow>`with changed as (
        update api_key set revoked_at = clock_timestamp(), revoked_by = ${ctx.actor.user_id}::uuid
        where tenant_id = ${ctx.tx.tenant_id} and id = ${id} and revoked_at is null
        returning ${apiKeyRecord}),
      emitted as (${emit(ctx, event, sql`changed`)})
      select * from changed`,
  ])
  return revoked && apiKeyOf(revoked)
}

/** Whether an identity provider has a SCIM key that is neither revoked nor expired. */
export async function hasLiveKeyOfProvider(tx: Tx, identity_provider_id: string): Promise<boolean> {
  const found = await tx.read(sql`select from api_key where tenant_id = ${tx.tenant_id}
    and identity_provider_id = ${identity_provider_id} and revoked_at is null
    and (expires_at is null or expires_at > clock_timestamp()) limit 1`)
  return found.length > 0
}

/** Revokes the live SCIM keys of an identity provider and emits an event for each; only inside `interactive`, the provider locked. */
export async function revokeKeysOfProvider(ctx: WorkCtx, identity_provider_id: string): Promise<void> {
  const { tx } = ctx
  const [revoked] = await tx.write([
    sql<{ id: string }>`update api_key set revoked_at = clock_timestamp(), revoked_by = ${ctx.actor.user_id}::uuid
      where tenant_id = ${tx.tenant_id} and identity_provider_id = ${identity_provider_id} and revoked_at is null
      returning id`,
  ])
  const events = revoked.map(({ id }) => {
    return { type: 'api_key.revoked', subject_type: 'api_key', subject_id: id, data: { identity_provider_id } } as const
  })
  if (events.length > 0) await tx.write([emit(ctx, events)])
}

/** The tenant that a key belongs to, by its id alone, because the key's text names no tenant. */
export async function findTenantOfKey(work: UnrestrictedTx, id: string): Promise<string | undefined> {
  const [row] = await work.read(sql<{ tenant_id: string }>`select tenant_id from api_key where id = ${id}`)
  return row?.tenant_id
}

/** A live key, by the database's clock. */
export type SecretStatus = {
  secret_hash: Buffer
  key_scopes: string[]
  expires_at: string | null
  tenant_suspended: boolean
  now: string
  /** Its `last_used_at` is older than a minute. */
  unused_lately: boolean
}

/** A key with the authority of the user it acts for. */
export type KeyStatus = SecretStatus & { user_id: string; user_scopes: string[] }

/**
 * Undefined for a key that does not exist, is not of this `kind`, is revoked or expired, or whose creator is not
 * active now.
 */
export async function findKeyStatus(tx: Tx, id: string, kind: KeyKind): Promise<KeyStatus | undefined> {
  const [status] = await tx.read(sql<KeyStatus>`
    select k.secret_hash, k.scopes as key_scopes, u.id as user_id, ${scopesAsArray(tx)} as user_scopes,
      k.expires_at, ${isTenantSuspended(sql`t`)} as tenant_suspended, clock_timestamp() as now,
      (k.last_used_at is null or k.last_used_at < clock_timestamp() - interval '1 minute') as unused_lately
    from api_key k join tenant t on t.id = k.tenant_id
      join tenant_user u on u.tenant_id = k.tenant_id and u.id = k.created_by
    where k.tenant_id = ${tx.tenant_id} and k.id = ${id} and k.kind = ${kind} and k.revoked_at is null
      and (k.expires_at is null or k.expires_at > clock_timestamp())
      and ${isActive(sql`u`)}`)
  return status
}

/** A SCIM key with its directory. */
export type ScimKeyStatus = SecretStatus & { created_by: string; identity_provider_id: string; enabled: boolean }

/** Undefined for a key that does not exist, is no SCIM key, or is revoked or expired. What became of its creator does not matter. */
export async function findScimKeyStatus(tx: Tx, id: string): Promise<ScimKeyStatus | undefined> {
  const [status] = await tx.read(sql<ScimKeyStatus>`
    select k.secret_hash, k.scopes as key_scopes, k.created_by, k.expires_at, i.id as identity_provider_id, i.enabled,
      ${isTenantSuspended(sql`t`)} as tenant_suspended, clock_timestamp() as now,
      (k.last_used_at is null or k.last_used_at < clock_timestamp() - interval '1 minute') as unused_lately
    from api_key k join tenant t on t.id = k.tenant_id
      join identity_provider i on i.tenant_id = k.tenant_id and i.id = k.identity_provider_id
    where k.tenant_id = ${tx.tenant_id} and k.id = ${id} and k.kind = 'scim' and k.revoked_at is null
      and (k.expires_at is null or k.expires_at > clock_timestamp())`)
  return status
}

/**
 * Records the use of a key, and for a SCIM key that its directory is in touch, at most once a minute. It locks the provider before the key, as a
 * deletion of the provider does.
 */
export async function touchKey(tx: Tx, id: string): Promise<void> {
  const isDue = sql`tenant_id = ${tx.tenant_id} and id = ${id}
    and (last_used_at is null or last_used_at < clock_timestamp() - interval '1 minute')`
  await tx.write([
    sql`with locked as (
        select i.id from identity_provider i where i.tenant_id = ${tx.tenant_id}
          and i.id = (select identity_provider_id from api_key where ${isDue}) for no key update of i),
      used as (
        update api_key set last_used_at = clock_timestamp()
        where ${isDue} and (select count(*) from locked) is not null
        returning identity_provider_id)
      update identity_provider i set last_synced_at = clock_timestamp(), sync_status = 'synced', sync_error = null
      from used where i.tenant_id = ${tx.tenant_id} and i.id = used.identity_provider_id`,
  ])
}

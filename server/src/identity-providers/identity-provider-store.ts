import { type CappedFilters, readCappedPage } from '../db/capped-list.ts'
import { sql } from '../db/sql.ts'
import { emit, type NewEvent } from '../events/emit.ts'
import type { SealedPlace, Tx, WorkCtx } from '../kernel/context.ts'
import { Problem } from '../kernel/errors.ts'
import type { PageRequest, PageRows } from '../kernel/page.ts'
import type { KeptConfig } from '../secrets/sealed-config.ts'
import type { IdentityProvider } from './identity-provider.ts'
import type { ProviderType } from './provider-config.ts'

const record = sql`id, name, provider_type, config, enabled, last_synced_at, sync_status, sync_error,
  created_at, updated_at`

/** Identity providers of a tenant, at most: its lists of them test each. Concurrent inserts may exceed it. */
const maxProviders = 100

/** The place to which a provider's secrets are sealed. */
export function placeOfSecrets(id: string): SealedPlace {
  return { table: 'identity_provider', id, field: 'sealed_secrets' }
}

type ProviderToInsert = KeptConfig & { id: string; name: string; provider_type: ProviderType; enabled: boolean }

/**
 * Inserts a new provider and emits the event, which holds nothing of the config.
 * @throws Problem 422 for a tenant that has `maxProviders`
 */
export async function insertProvider(ctx: WorkCtx, provider: ProviderToInsert): Promise<IdentityProvider> {
  const { id, name, provider_type, enabled } = provider
  const event = eventOf('created', id, { provider_type, enabled })
  const [[made]] = await ctx.tx.write([
    sql<IdentityProvider>`with made as (
        insert into identity_provider (tenant_id, id, name, provider_type, config, sealed_secrets, enabled,
          configured_by)
        select ${ctx.tx.tenant_id}::uuid, ${id}::uuid, ${name}, ${provider_type},
          ${JSON.stringify(provider.config)}::jsonb, ${provider.sealed_secrets}, ${enabled}::boolean,
          ${ctx.actor.user_id}::uuid
        where (select count(*) from identity_provider where tenant_id = ${ctx.tx.tenant_id}) < ${maxProviders}
        returning ${record}),
      emitted as (${emit(ctx, event, sql`made`)})
      select * from made`,
  ])
  if (made === undefined) {
    const message = `a tenant has at most ${maxProviders} identity providers: delete one first, or change one`
    throw new Problem('unprocessable', message)
  }
  return made
}

export function listProvidersPage(
  tx: Tx,
  filters: CappedFilters,
  page: PageRequest,
): Promise<PageRows<IdentityProvider>> {
  return readCappedPage<IdentityProvider>(tx, { table: sql`identity_provider r`, columns: record }, filters, page)
}

export async function findProvider(tx: Tx, id: string): Promise<IdentityProvider | undefined> {
  const [found] = await tx.read(sql<IdentityProvider>`select ${record} from identity_provider
    where tenant_id = ${tx.tenant_id} and id = ${id}`)
  return found
}

/** A provider with what its directory is read by; it must never be returned to a caller. */
export type ProviderToRead = KeptConfig & {
  provider_type: ProviderType
  enabled: boolean
  configured_by: string | null
}

export async function findProviderToRead(tx: Tx, id: string): Promise<ProviderToRead | undefined> {
  const [found] = await tx.read(
    sql<ProviderToRead>`select provider_type, enabled, configured_by, config, sealed_secrets from identity_provider
      where tenant_id = ${tx.tenant_id} and id = ${id}`,
  )
  return found
}

/** A provider with its sealed secrets; it must never be returned to a caller. */
export type LockedProvider = { shown: IdentityProvider; kept: KeptConfig }

/** Locks and returns the provider until the transaction ends; only inside `interactive`. */
export async function lockProvider(tx: Tx, id: string): Promise<LockedProvider | undefined> {
  const [found] = await tx.read(
    sql<IdentityProvider & { sealed_secrets: string | null }>`select ${record}, sealed_secrets from identity_provider
      where tenant_id = ${tx.tenant_id} and id = ${id} for update`,
  )
  if (found === undefined) return undefined
  const { sealed_secrets, ...shown } = found
  return { shown, kept: { config: shown.config, sealed_secrets } }
}

type ProviderContent = KeptConfig & { name: string; enabled: boolean }

/** Saves a locked provider and emits an event with the names of the changed `fields`. */
export async function saveProvider(
  ctx: WorkCtx,
  id: string,
  content: ProviderContent,
  fields: readonly string[],
): Promise<IdentityProvider> {
  const { name, config, sealed_secrets, enabled } = content
  const event = eventOf('updated', id, { fields, enabled })
  const [[saved]] = await ctx.tx.write([
    sql<IdentityProvider>`with changed as (
        update identity_provider set name = ${name}, config = ${JSON.stringify(config)},
          sealed_secrets = ${sealed_secrets}, enabled = ${enabled},
          configured_by = case when ${fields.includes('config')} then ${ctx.actor.user_id}::uuid else configured_by end,
          config_version = config_version + case when ${fields.includes('config')} then 1 else 0 end,
          updated_at = clock_timestamp()
        where tenant_id = ${ctx.tx.tenant_id} and id = ${id}
        returning ${record}),
      emitted as (${emit(ctx, event, sql`changed`)})
      select * from changed`,
  ])
  if (saved === undefined) throw new Error('a locked identity provider was not found')
  return saved
}

/** Deletes a locked provider and emits the event. */
export async function deleteLockedProvider(ctx: WorkCtx, id: string): Promise<void> {
  await ctx.tx.write([
    sql`with changed as (
        delete from identity_provider where tenant_id = ${ctx.tx.tenant_id} and id = ${id} returning id),
      emitted as (${emit(ctx, eventOf('deleted', id), sql`changed`)})
      select id from changed`,
  ])
}

function eventOf(what: 'created' | 'updated' | 'deleted', id: string, data: Record<string, unknown> = {}): NewEvent {
  return { type: `identity_provider.${what}`, subject_type: 'identity_provider', subject_id: id, data }
}

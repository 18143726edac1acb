import { sql } from '../db/sql.ts'
import { emit } from '../events/emit.ts'
import type { SealedPlace, Statement, Tx, WorkCtx } from '../kernel/context.ts'
import type { KeptConfig } from '../secrets/sealed-config.ts'
import {
  type AiProvider,
  type AiProviderRow,
  type AiProviderType,
  aiProviderOf,
  aiProviderTypes,
} from './ai-provider.ts'

/** Where a type's secrets are sealed to. */
export function placeOfAiSecrets(type: AiProviderType): SealedPlace {
  return { table: 'ai_provider', id: type, field: 'sealed_secrets' }
}

/** The types with what is set of each; `updated_at` is of the config, or of its becoming the default if that is later. */
function providers(tx: Tx, types: readonly AiProviderType[]): Statement<AiProviderRow> {
  return sql<AiProviderRow>`select asked.type, p.config, d.type is not null as is_default,
      greatest(p.updated_at, d.updated_at) as updated_at
    from unnest(${[...types]}::text[]) with ordinality as asked (type, place)
    left join ai_provider p on p.tenant_id = ${tx.tenant_id} and p.type = asked.type
    left join ai_provider_default d on d.tenant_id = ${tx.tenant_id} and d.type = asked.type
    order by asked.place`
}

/** Every type there is, set or not. */
export async function listAiProviderTypes(tx: Tx): Promise<AiProvider[]> {
  return (await tx.read(providers(tx, aiProviderTypes))).map(aiProviderOf)
}

/** A type with what is set of it. */
export async function getAiProvider(tx: Tx, type: AiProviderType): Promise<AiProvider> {
  const [row] = await tx.read(providers(tx, [type]))
  return aiProviderOf(row ?? { type, config: null, is_default: false, updated_at: null })
}

export async function findDefaultType(tx: Tx): Promise<AiProviderType | undefined> {
  const [row] = await tx.read(
    sql<{ type: AiProviderType }>`select type from ai_provider_default where tenant_id = ${tx.tenant_id}`,
  )
  return row?.type
}

/**
 * Chooses the default and tells of it, from what to what. Guarded by the type that was it (null: none): false when somebody
 * else has chosen another meanwhile.
 */
export async function saveDefaultType(
  ctx: WorkCtx,
  change: { old: AiProviderType | null; new: AiProviderType },
): Promise<boolean> {
  const event = {
    type: 'setting.updated',
    subject_type: 'setting',
    subject_id: 'ai-provider-default',
    data: change,
  } as const
  const [saved] = await ctx.tx.write([
    sql`with changed as (
        insert into ai_provider_default (tenant_id, type) values (${ctx.tx.tenant_id}, ${change.new})
        on conflict (tenant_id) do update set type = excluded.type, updated_at = clock_timestamp()
          where ai_provider_default.type = ${change.old}::text
        returning type),
      told as (${emit(ctx, event, sql`changed`)})
      select type from changed`,
  ])
  return saved.length > 0
}

/** What is kept of a type's config, held until the transaction ends; for inside `interactive`. */
export async function lockAiConfig(tx: Tx, type: AiProviderType): Promise<KeptConfig | undefined> {
  const [kept] = await tx.read(sql<KeptConfig>`select config, sealed_secrets from ai_provider
    where tenant_id = ${tx.tenant_id} and type = ${type} for update`)
  return kept
}

/** Keeps a type's config and tells that it changed, nothing of what is in it. */
export async function saveAiConfig(ctx: WorkCtx, type: AiProviderType, kept: KeptConfig): Promise<void> {
  const event = { type: 'setting.updated', subject_type: 'setting', subject_id: `ai-providers/${type}` } as const
  await ctx.tx.write([
    sql`with changed as (
        insert into ai_provider (tenant_id, type, config, sealed_secrets)
        values (${ctx.tx.tenant_id}, ${type}, ${JSON.stringify(kept.config)}, ${kept.sealed_secrets})
        on conflict (tenant_id, type) do update set config = excluded.config,
          sealed_secrets = excluded.sealed_secrets, updated_at = clock_timestamp()
        returning type),
      told as (${emit(ctx, event, sql`changed`)})
      select type from changed`,
  ])
}

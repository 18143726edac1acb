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

/** The place to which a type's secrets are sealed. */
export function placeOfAiSecrets(type: AiProviderType): SealedPlace {
  return { table: 'ai_provider', id: type, field: 'sealed_secrets' }
}

/** The types with their settings. `updated_at`: when the config changed or the type became the default, whichever is later. */
function providers(tx: Tx, types: readonly AiProviderType[]): Statement<AiProviderRow> {
  return sql<AiProviderRow>`select asked.type, p.config, d.type is not null as is_default,
      greatest(p.updated_at, d.updated_at) as updated_at
    from unnest(${[...types]}::text[]) with ordinality as asked (type, place)
    left join ai_provider p on p.tenant_id = ${tx.tenant_id} and p.type = asked.type
    left join ai_provider_default d on d.tenant_id = ${tx.tenant_id} and d.type = asked.type
    order by asked.place`
}

/** Every type, set or not. */
export async function listAiProviderTypes(tx: Tx): Promise<AiProvider[]> {
  return (await tx.read(providers(tx, aiProviderTypes))).map(aiProviderOf)
}

/** A type with its settings. */
export async function getAiProvider(tx: Tx, type: AiProviderType): Promise<AiProvider> {
  const [row] = await tx.read(providers(tx, [type]))
  return aiProviderOf(row ?? { type, config: null, is_default: false, updated_at: null })
}

async function findDefaultType(tx: Tx): Promise<AiProviderType | undefined> {
  const [row] = await tx.read(
    sql<{ type: AiProviderType }>`select type from ai_provider_default where tenant_id = ${tx.tenant_id}`,
  )
  return row?.type
}

/** The default provider; undefined when none is chosen. */
export async function findDefaultProvider(tx: Tx): Promise<AiProvider | undefined> {
  const type = await findDefaultType(tx)
  return type && getAiProvider(tx, type)
}

/** Chooses the default, with the providers locked, and emits an event with the old (null: none) and the new one. */
export async function saveDefaultType(
  ctx: WorkCtx,
  change: { old: AiProviderType | null; new: AiProviderType },
): Promise<void> {
  const event = {
    type: 'setting.updated',
    subject_type: 'setting',
    subject_id: 'ai-provider-default',
    data: change,
  } as const
  await ctx.tx.write([
    sql`with changed as (
        insert into ai_provider_default (tenant_id, type) values (${ctx.tx.tenant_id}, ${change.new})
        on conflict (tenant_id) do update set type = excluded.type, updated_at = clock_timestamp()
        returning type),
      emitted as (${emit(ctx, event, sql`changed`)})
      select type from changed`,
  ])
}

/** Locks the tenant's AI providers, set or not, until the transaction ends; only inside `interactive`. */
export async function lockAiProviders(tx: Tx): Promise<void> {
  await tx.read(sql`select from tenant where id = ${tx.tenant_id} for no key update`)
}

/** Locks and returns a type's stored config; undefined when it was never set. Only inside `interactive`. */
export async function lockAiConfig(tx: Tx, type: AiProviderType): Promise<KeptConfig | undefined> {
  const [kept] = await tx.read(sql<KeptConfig>`select config, sealed_secrets from ai_provider
    where tenant_id = ${tx.tenant_id} and type = ${type} for update`)
  return kept
}

/** Saves a type's config and emits an event that holds nothing of its content. */
export async function saveAiConfig(ctx: WorkCtx, type: AiProviderType, kept: KeptConfig): Promise<void> {
  const event = { type: 'setting.updated', subject_type: 'setting', subject_id: `ai-providers/${type}` } as const
  await ctx.tx.write([
    sql`with changed as (
        insert into ai_provider (tenant_id, type, config, sealed_secrets)
        values (${ctx.tx.tenant_id}, ${type}, ${JSON.stringify(kept.config)}, ${kept.sealed_secrets})
        on conflict (tenant_id, type) do update set config = excluded.config,
          sealed_secrets = excluded.sealed_secrets, updated_at = clock_timestamp()
        returning type),
      emitted as (${emit(ctx, event, sql`changed`)})
      select type from changed`,
  ])
}

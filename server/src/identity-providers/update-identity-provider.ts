import { keepRefusal } from '../events/keep-refusal.ts'
import { findDirectoryScopes } from '../groups/group-member-store.ts'
import { readIfMatch, requireMatch } from '../http/if-match.ts'
import { operation } from '../http/operation.ts'
import { IdParams } from '../http/schema.ts'
import { changeIn, SentBack } from '../http/sent-back.ts'
import type { Ctx } from '../kernel/context.ts'
import { notFound } from '../kernel/errors.ts'
import { replaceConfig } from '../secrets/sealed-config.ts'
import { IdentityProvider, IdentityProviderChange, providerTag } from './identity-provider.ts'
import { type LockedProvider, lockProvider, placeOfSecrets, saveProvider } from './identity-provider-store.ts'
import { protocolOf, requireMayConfigure } from './protocol.ts'
import { shownFieldsOf } from './provider-config.ts'
import { scheduleNext } from './sync-schedule-store.ts'
import { syncSettingsOf } from './sync-settings.ts'

/**
 * Changes the sent fields; a sent config replaces the previous one. A change without effect writes nothing, emits no event,
 * and returns the provider as it is.
 */
export const updateIdentityProvider = operation({
  method: 'PATCH',
  path: '/v1/identity-providers/{id}',
  summary: 'Update an identity provider',
  credential: 'any',
  scope: 'identity_providers:write',
  // A SCIM key of a provider that is switched off is refused from the next call on.
  changes: 'authority',
  keyOfSession: true,
  params: IdParams,
  body: SentBack(IdentityProviderChange, IdentityProvider),
  replies: { 200: IdentityProvider },
  errors: ['not_found'],
  etag: providerTag,
  takesIfMatch: true,
  run(ctx, { params, body, header }) {
    const tags = readIfMatch(header('if-match'))
    const about = { subject_type: 'identity_provider', subject_id: params.id }
    return keepRefusal(ctx, about, () =>
      ctx.tx.interactive(async (tx) => {
        const before = await lockProvider(tx, params.id)
        if (before === undefined) throw notFound('identity provider')
        requireMatch(tags, providerTag(before.shown))
        return change({ ...ctx, tx }, before, changeIn(IdentityProviderChange, body, before.shown))
      }),
    )
  },
})

async function change(
  ctx: Ctx,
  { shown, kept }: LockedProvider,
  { name = shown.name, enabled = shown.enabled, config }: IdentityProviderChange,
): Promise<IdentityProvider> {
  const place = placeOfSecrets(shown.id)
  const replaced = config && (await replaceConfig(ctx, place, config, shownFieldsOf[shown.provider_type], kept))
  const fields = [
    ...(name === shown.name ? [] : ['name']),
    ...(enabled === shown.enabled ? [] : ['enabled']),
    ...(replaced === undefined ? [] : ['config']),
  ]
  if (fields.length === 0) return shown
  const now = { ...shown, ...(replaced ?? kept) }
  const isRead = protocolOf(now) !== undefined
  if (replaced !== undefined && (isRead || protocolOf(shown) !== undefined)) {
    requireMayConfigure(ctx.actor.scopes, await findDirectoryScopes(ctx.tx, shown.id))
  }
  const saved = await saveProvider(ctx, shown.id, { name, enabled, ...(replaced ?? kept) }, fields)
  await ctx.tx.write(scheduleNext(ctx.tx, shown.id, isRead ? syncSettingsOf(now.config).interval_minutes : 0))
  return saved
}

import { readIfMatch, recordTag, requireMatch } from '../http/if-match.ts'
import { operation } from '../http/operation.ts'
import { changeIn, SentBack } from '../http/sent-back.ts'
import { replaceConfig } from '../secrets/sealed-config.ts'
import {
  AiProvider,
  AiProviderConfig,
  AiProviderParams,
  aiProviderFields,
  requireAiProviderType,
} from './ai-provider.ts'
import { getAiProvider, lockAiConfig, lockAiProviders, placeOfAiSecrets, saveAiConfig } from './ai-provider-store.ts'

/** Replaces the config of a type and seals its secrets. A change without effect writes nothing and emits no event. */
export const setAiProviderConfig = operation({
  method: 'PUT',
  path: '/v1/settings/ai-providers/{type}',
  summary: 'Set the config of an AI provider type',
  credential: 'any',
  scope: 'settings:write',
  keyOfSession: true,
  params: AiProviderParams,
  body: SentBack(AiProviderConfig, AiProvider),
  replies: { 200: AiProvider },
  errors: [],
  etag: recordTag,
  takesIfMatch: true,
  run(ctx, { params, body, header }) {
    const tags = readIfMatch(header('if-match'))
    const type = requireAiProviderType(params.type)
    return ctx.tx.interactive(async (tx) => {
      await lockAiProviders(tx)
      const before = await getAiProvider(tx, type)
      const { config } = changeIn(AiProviderConfig, body, before)
      requireMatch(tags, recordTag(before))
      const kept = await lockAiConfig(tx, type)
      const place = placeOfAiSecrets(type)
      const replaced = await replaceConfig({ ...ctx, tx }, place, config, aiProviderFields, kept)
      if (replaced !== undefined) await saveAiConfig({ ...ctx, tx }, type, replaced)
      return getAiProvider(tx, type)
    })
  },
})

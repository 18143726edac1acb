import { readIfMatch, recordTag, requireMatch } from '../http/if-match.ts'
import { operation } from '../http/operation.ts'
import { changeIn, SentBack } from '../http/sent-back.ts'
import { AiProvider, AiProviderChoice } from './ai-provider.ts'
import { findDefaultProvider, getAiProvider, lockAiProviders, saveDefaultType } from './ai-provider-store.ts'

/** Chooses the default. Choosing the current default writes nothing and emits no event. */
export const setAiProviderDefault = operation({
  method: 'PUT',
  path: '/v1/settings/ai-provider-default',
  summary: 'Set the default AI provider',
  credential: 'any',
  scope: 'settings:write',
  keyOfSession: true,
  body: SentBack(AiProviderChoice, AiProvider),
  replies: { 200: AiProvider },
  errors: [],
  etag: recordTag,
  takesIfMatch: true,
  run(ctx, { body, header }) {
    const tags = readIfMatch(header('if-match'))
    return ctx.tx.interactive(async (tx) => {
      await lockAiProviders(tx)
      const before = await findDefaultProvider(tx)
      const { type } = changeIn(AiProviderChoice, body, before ?? {})
      requireMatch(tags, before && recordTag(before))
      if (before?.type !== type) await saveDefaultType({ ...ctx, tx }, { old: before?.type ?? null, new: type })
      return getAiProvider(tx, type)
    })
  },
})

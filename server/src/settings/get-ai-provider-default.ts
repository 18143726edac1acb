import { recordTag } from '../http/if-match.ts'
import { operation } from '../http/operation.ts'
import { notFound } from '../kernel/errors.ts'
import { AiProvider } from './ai-provider.ts'
import { findDefaultProvider } from './ai-provider-store.ts'

export const getAiProviderDefault = operation({
  method: 'GET',
  path: '/v1/settings/ai-provider-default',
  summary: 'Get the default AI provider',
  credential: 'any',
  scope: 'settings:read',
  replies: { 200: AiProvider },
  errors: ['not_found'],
  etag: recordTag,
  async run(ctx) {
    const provider = await findDefaultProvider(ctx.tx)
    if (provider === undefined) throw notFound('default AI provider')
    return provider
  },
})

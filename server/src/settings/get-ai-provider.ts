import { recordTag } from '../http/if-match.ts'
import { operation } from '../http/operation.ts'
import { AiProvider, AiProviderParams, requireAiProviderType } from './ai-provider.ts'
import { getAiProvider as getProvider } from './ai-provider-store.ts'

export const getAiProvider = operation({
  method: 'GET',
  path: '/v1/settings/ai-providers/{type}',
  summary: 'Get an AI provider type with its config',
  credential: 'any',
  scope: 'settings:read',
  params: AiProviderParams,
  replies: { 200: AiProvider },
  errors: [],
  etag: recordTag,
  run: (ctx, { params }) => getProvider(ctx.tx, requireAiProviderType(params.type)),
})

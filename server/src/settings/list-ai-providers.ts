import { Type } from 'typebox'
import { operation } from '../http/operation.ts'
import { PageOf, pageQuery } from '../http/schema.ts'
import { AiProvider } from './ai-provider.ts'
import { listAiProviderTypes } from './ai-provider-store.ts'

/** Lists every type of AI provider, with its config and whether it is the default. */
export const listAiProviders = operation({
  method: 'GET',
  path: '/v1/settings/ai-providers',
  summary: 'List the AI providers with their configs',
  credential: 'any',
  scope: 'settings:read',
  query: Type.Object(pageQuery, { additionalProperties: false }),
  replies: { 200: PageOf(AiProvider) },
  errors: [],
  async run(ctx, { page }) {
    const [after = ''] = page.after ?? []
    const providers = (await listAiProviderTypes(ctx.tx)).filter(({ type }) => type > after)
    return page.of(providers.slice(0, page.limit + 1), ({ type }) => [type])
  },
})

import { Type } from 'typebox'
import { createdRange, Search, SortBy } from '../http/list-query.ts'
import { operation } from '../http/operation.ts'
import { PageOf, pageQuery, Uuid } from '../http/schema.ts'
import { ApiKey } from './api-key.ts'
import { apiKeyOrders, listApiKeysPage } from './api-key-list-store.ts'

/** Lists the records of the tenant's keys, the newest first where `sort` is absent: live, expired and revoked. */
export const listApiKeys = operation({
  method: 'GET',
  path: '/v1/api-keys',
  summary: 'List API keys',
  credential: 'any',
  scope: 'api_keys:read',
  query: Type.Object(
    {
      ...pageQuery,
      identity_provider_id: Type.Optional(Uuid),
      revoked: Type.Optional(Type.Boolean({ description: 'whether the key was revoked; an expired one need not be' })),
      q: Search('the name'),
      ...createdRange,
      sort: SortBy(apiKeyOrders, '-created_at'),
    },
    { additionalProperties: false },
  ),
  replies: { 200: PageOf(ApiKey) },
  errors: [],
  run: async (ctx, { query, page }) => page.reply(await listApiKeysPage(ctx.tx, query, page)),
})

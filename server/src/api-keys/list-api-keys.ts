import { Type } from 'typebox'
import { operation } from '../http/operation.ts'
import { PageOf, pageQuery, Uuid } from '../http/schema.ts'
import { ApiKey } from './api-key.ts'
import { listApiKeysPage } from './api-key-store.ts'

/** Lists the records of the tenant's keys, the newest first: live, expired and revoked. */
export const listApiKeys = operation({
  method: 'GET',
  path: '/v1/api-keys',
  summary: 'List API keys',
  credential: 'any',
  scope: 'api_keys:read',
  query: Type.Object({ ...pageQuery, identity_provider_id: Type.Optional(Uuid) }, { additionalProperties: false }),
  replies: { 200: PageOf(ApiKey) },
  errors: [],
  async run(ctx, { query, page }) {
    return page.of(await listApiKeysPage(ctx.tx, query, page), (key) => [key.id])
  },
})

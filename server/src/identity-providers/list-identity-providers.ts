import { CappedListQuery } from '../http/list-query.ts'
import { operation } from '../http/operation.ts'
import { PageOf } from '../http/schema.ts'
import { IdentityProvider } from './identity-provider.ts'
import { listProvidersPage } from './identity-provider-store.ts'

/** Lists the tenant's providers in the order of creation where `sort` is absent. */
export const listIdentityProviders = operation({
  method: 'GET',
  path: '/v1/identity-providers',
  summary: 'List identity providers',
  credential: 'any',
  scope: 'identity_providers:read',
  query: CappedListQuery,
  replies: { 200: PageOf(IdentityProvider) },
  errors: [],
  run: async (ctx, { query, page }) => page.reply(await listProvidersPage(ctx.tx, query, page)),
})

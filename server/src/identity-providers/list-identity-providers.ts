import { Type } from 'typebox'
import { operation } from '../http/operation.ts'
import { PageOf, pageQuery } from '../http/schema.ts'
import { IdentityProvider } from './identity-provider.ts'
import { listProvidersPage } from './identity-provider-store.ts'

/** Lists the tenant's providers in the order of creation. */
export const listIdentityProviders = operation({
  method: 'GET',
  path: '/v1/identity-providers',
  summary: 'List identity providers',
  credential: 'any',
  scope: 'identity_providers:read',
  query: Type.Object(pageQuery, { additionalProperties: false }),
  replies: { 200: PageOf(IdentityProvider) },
  errors: [],
  run: async (ctx, { page }) => page.of(await listProvidersPage(ctx.tx, page), (provider) => [provider.id]),
})

import { operation } from '../http/operation.ts'
import { IdParams } from '../http/schema.ts'
import { notFound } from '../kernel/errors.ts'
import { IdentityProvider, providerTag } from './identity-provider.ts'
import { findProvider } from './identity-provider-store.ts'

/** Returns a provider without reading its secrets. */
export const getIdentityProvider = operation({
  method: 'GET',
  path: '/v1/identity-providers/{id}',
  summary: 'Get identity provider',
  credential: 'any',
  scope: 'identity_providers:read',
  params: IdParams,
  replies: { 200: IdentityProvider },
  errors: ['not_found'],
  etag: providerTag,
  async run(ctx, { params }) {
    const provider = await findProvider(ctx.tx, params.id)
    if (provider === undefined) throw notFound('identity provider')
    return provider
  },
})

import { operation } from '../http/operation.ts'
import { newId } from '../kernel/id.ts'
import { replaceConfig } from '../secrets/sealed-config.ts'
import { IdentityProvider, NewIdentityProvider, providerTag } from './identity-provider.ts'
import { insertProvider, placeOfSecrets } from './identity-provider-store.ts'
import { protocolOf, requireMayConfigure } from './protocol.ts'
import { shownFieldsOf } from './provider-config.ts'

/** Creates a provider and seals its secrets. */
export const createIdentityProvider = operation({
  method: 'POST',
  path: '/v1/identity-providers',
  summary: 'Create identity provider',
  credential: 'any',
  scope: 'identity_providers:write',
  keyOfSession: true,
  body: NewIdentityProvider,
  replies: { 201: IdentityProvider },
  location: ({ id }) => `/v1/identity-providers/${id}`,
  errors: ['unprocessable'],
  etag: providerTag,
  async run(ctx, { body }) {
    const { name, provider_type, config = {}, enabled = true } = body
    const id = newId()
    if (protocolOf({ provider_type, config }) !== undefined) requireMayConfigure(ctx.actor.scopes, [])
    const kept = await replaceConfig(ctx, placeOfSecrets(id), config, shownFieldsOf[provider_type])
    return insertProvider(ctx, { id, name, provider_type, enabled, ...(kept ?? { config: {}, sealed_secrets: null }) })
  },
})

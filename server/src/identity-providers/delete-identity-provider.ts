import { revokeKeysOfProvider } from '../api-keys/api-key-store.ts'
import { operation } from '../http/operation.ts'
import { IdParams } from '../http/schema.ts'
import { notFound } from '../kernel/errors.ts'
import { deleteLockedProvider, lockProvider } from './identity-provider-store.ts'

/** Deletes a provider with its secrets and revokes its SCIM keys. */
export const deleteIdentityProvider = operation({
  method: 'DELETE',
  path: '/v1/identity-providers/{id}',
  summary: 'Delete an identity provider and revoke its SCIM keys',
  credential: 'any',
  scope: 'identity_providers:write',
  params: IdParams,
  replies: { 204: null },
  errors: ['not_found'],
  changes: 'authority',
  run: (ctx, { params }): Promise<undefined> =>
    ctx.tx.interactive(async (tx) => {
      // Lock the provider first: a concurrent creation of a key for it waits, and then finds no provider.
      if ((await lockProvider(tx, params.id)) === undefined) throw notFound('identity provider')
      await revokeKeysOfProvider({ ...ctx, tx }, params.id)
      await deleteLockedProvider({ ...ctx, tx }, params.id)
      return undefined
    }),
})

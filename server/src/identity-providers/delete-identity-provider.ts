import { revokeKeysOfProvider } from '../api-keys/api-key-store.ts'
import { releaseDirectoryGroups } from '../groups/group-store.ts'
import { readIfMatch, requireMatch } from '../http/if-match.ts'
import { operation } from '../http/operation.ts'
import { IdParams } from '../http/schema.ts'
import { notFound } from '../kernel/errors.ts'
import { clearDirectory } from '../scim/users/clear-directory-store.ts'
import { providerTag } from './identity-provider.ts'
import { deleteLockedProvider, lockProvider } from './identity-provider-store.ts'

/** Deletes a provider with its secrets and revokes its SCIM keys. Its users and groups stay, and are managed here from then on. */
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
  takesIfMatch: true,
  run(ctx, { params, header }): Promise<undefined> {
    const tags = readIfMatch(header('if-match'))
    return ctx.tx.interactive(async (tx) => {
      // Lock the provider first: a concurrent creation of a key for it waits, and then finds no provider.
      const before = await lockProvider(tx, params.id)
      if (before === undefined) throw notFound('identity provider')
      requireMatch(tags, providerTag(before.shown))
      await revokeKeysOfProvider({ ...ctx, tx }, params.id)
      await releaseDirectoryGroups({ ...ctx, tx }, params.id)
      await clearDirectory(tx, params.id)
      await deleteLockedProvider({ ...ctx, tx }, params.id)
      return undefined
    })
  },
})

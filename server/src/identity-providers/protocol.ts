import { scimMakerScopes } from '../api-keys/api-key.ts'
import { Problem } from '../kernel/errors.ts'
import { requireHeld } from '../permissions/permission.ts'
import type { ProviderType } from './provider-config.ts'

/** By what a directory is read. */
export type Protocol = 'identity_center' | 'scim' | 'ldap'

type Provider = { provider_type: ProviderType; config: Readonly<Record<string, unknown>> }

/** The protocol by which the directory of a provider is read; undefined where it pushes. */
export function protocolOf({ provider_type, config }: Provider): Protocol | undefined {
  if (provider_type === 'cloud_identity_center') return 'identity_center'
  const { protocol } = config
  const isDirectory = ['directory_a', 'directory_b', 'directory_c'].includes(provider_type)
  return isDirectory && (protocol === 'scim' || protocol === 'ldap') ? protocol : undefined
}

/** @throws Problem 422 for a provider whose directory pushes */
export function requireProtocol(provider: Provider): Protocol {
  const protocol = protocolOf(provider)
  if (protocol !== undefined) return protocol
  const type = provider.provider_type
  const message = type.startsWith('directory_')
    ? `\`config.protocol\` does not say how the directory is read: set it to \`scim\` or \`ldap\`. Without it the directory pushes over SCIM`
    : `a provider of the type \`${type}\` is not read: its directory pushes over SCIM. Create an API key with this provider\u2019s \`identity_provider_id\` for it`
  throw new Problem('unprocessable', message)
}

/**
 * Who says where a directory is read decides who its users are, as the maker of a SCIM key does.
 * @param conferred the scopes that its groups give and its users hold. @throws Problem 403 naming those that the caller lacks
 */
export function requireMayConfigure(caller: ReadonlySet<string>, conferred: readonly string[]): void {
  const why =
    'a directory that is read writes users, groups and their members, so who says where it is read needs the scopes for that and ' +
    'every scope that its groups give and its users hold'
  requireHeld(caller, [...scimMakerScopes, ...conferred], (lacking) => `${why}; you lack ${lacking}`)
}

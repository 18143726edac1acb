import { type Static, Type } from 'typebox'
import { recordTag } from '../http/if-match.ts'
import { AnyObject, Body, DateTime, Name, Nullable, OneOf, Uuid } from '../http/schema.ts'
import { providerTypes } from './provider-config.ts'

const ProviderName = Name(200, { description: 'a display name; need not be unique' })
const config = {
  type: 'object',
  additionalProperties: true,
  description:
    'Every field that may be a secret is write-only and shown as `[redacted]`; send `[redacted]` to keep its value. ' +
    'An omitted field is removed. 64 KiB at most.',
} as const

/** A provider as returned by the API. */
export const IdentityProvider = Type.Object(
  {
    id: Uuid,
    name: Type.String(),
    provider_type: OneOf(providerTypes, { description: 'never changes' }),
    config: AnyObject,
    enabled: Type.Boolean(),
    last_synced_at: Nullable(DateTime),
    sync_status: OneOf(['pending', 'syncing', 'synced', 'failed'], {
      description: 'of a directory that pushes: `synced` once it has called',
    }),
    sync_error: Nullable(Type.String()),
    created_at: DateTime,
    updated_at: DateTime,
  },
  { title: 'IdentityProvider' },
)
export type IdentityProvider = Static<typeof IdentityProvider>

/** The `ETag` of a provider. When it was last synced is no part of its state: a directory that pushes moves that every minute. */
export function providerTag(provider: IdentityProvider): string {
  return recordTag(provider, 'last_synced_at', 'sync_status', 'sync_error')
}

export const NewIdentityProvider = Body({
  name: ProviderName,
  provider_type: OneOf(providerTypes),
  config: Type.Optional(Type.Unsafe<Record<string, unknown>>(config)),
  enabled: Type.Optional(Type.Boolean({ description: 'default: true' })),
})

/** A change of a provider: only the sent fields change. */
export const IdentityProviderChange = Body({
  name: Type.Optional(ProviderName),
  config: Type.Optional(Type.Unsafe<Record<string, unknown>>(config)),
  enabled: Type.Optional(Type.Boolean()),
})
export type IdentityProviderChange = Static<typeof IdentityProviderChange>

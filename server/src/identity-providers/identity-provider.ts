import { type Static, Type } from 'typebox'
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
    sync_status: OneOf(['pending', 'syncing', 'synced', 'failed']),
    sync_error: Nullable(Type.String()),
    created_at: DateTime,
    updated_at: DateTime,
  },
  { title: 'IdentityProvider' },
)
export type IdentityProvider = Static<typeof IdentityProvider>

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

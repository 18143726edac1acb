import { type Static, Type } from 'typebox'
import { AnyObject, Body, DateTime, Nullable, OneOf, Uuid } from '../http/schema.ts'
import { providerTypes } from './provider-config.ts'

const Name = Type.String({
  minLength: 1,
  maxLength: 200,
  pattern: '^\\P{Cc}+$',
  description: 'for people; need not be unique',
})
const config = {
  type: 'object',
  additionalProperties: true,
  description:
    'What may be a secret is write-only and shown as `[redacted]`; sent back as that, it stays as it is. A field that ' +
    'is left out is taken away. 64 KiB at most.',
} as const

/** A provider as answered. */
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
  name: Name,
  provider_type: OneOf(providerTypes),
  config: Type.Optional(Type.Unsafe<Record<string, unknown>>(config)),
  enabled: Type.Optional(Type.Boolean({ description: 'true where it is left out' })),
})

/** What may be changed of a provider: the fields that are sent. */
export const IdentityProviderChange = Body({
  name: Type.Optional(Name),
  config: Type.Optional(Type.Unsafe<Record<string, unknown>>(config)),
  enabled: Type.Optional(Type.Boolean()),
})
export type IdentityProviderChange = Static<typeof IdentityProviderChange>

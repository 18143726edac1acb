import { type Static, Type } from 'typebox'
import { AnyObject, Body, DateTime, Nullable, OneOf, Uuid } from '../http/schema.ts'
import type { Tx } from '../kernel/context.ts'
import { Problem } from '../kernel/errors.ts'
import { Serves } from './serving.ts'

/** The kinds of target. */
export const provisionerTypes = ['sandbox', 'postgresql', 'webhook', 'aws-identity-center'] as const
export type ProvisionerType = (typeof provisionerTypes)[number]

const health = {
  checked_at: DateTime,
  ok: Type.Boolean({ description: 'every check is' }),
  checks: Type.Array(
    Type.Object({
      what: Type.String(),
      ok: Type.Boolean(),
      message: Nullable(Type.String({ description: 'how to mend it' })),
    }),
  ),
}

/** How a test went. */
export const ProvisionerHealth = Type.Object(health, { title: 'ProvisionerHealth' })
export type ProvisionerHealth = Static<typeof ProvisionerHealth>

/** A provisioner as answered. */
export const Provisioner = Type.Object(
  {
    id: Uuid,
    name: Type.String(),
    provisioner_type: OneOf(provisionerTypes, { description: 'never changes' }),
    config: AnyObject,
    serves: Serves,
    enabled: Type.Boolean(),
    corrects_drift: Type.Boolean(),
    version: Type.Integer({ description: 'one more at each change' }),
    previous_secrets_until: Nullable(
      Type.String({
        format: 'date-time',
        description: 'until when the secrets of before the last rotation count beside the new ones',
      }),
    ),
    health: Nullable(
      Type.Object(health, { description: 'the last test; null where none was made since the config was changed' }),
    ),
    created_at: DateTime,
    updated_at: DateTime,
  },
  { title: 'Provisioner' },
)
export type Provisioner = Static<typeof Provisioner>

/** The answer where secrets were made: the record, and those secrets this once. */
export const ProvisionerWithSecrets = Type.Object(
  {
    ...Provisioner.properties,
    shown_once: Type.Unsafe<Record<string, string>>({
      type: 'object',
      additionalProperties: { type: 'string' },
      description: 'secrets that were made for the target to know, by field: shown now and never again',
    }),
  },
  { title: 'ProvisionerWithSecrets' },
)

const Name = Type.String({
  minLength: 1,
  maxLength: 200,
  pattern: '^\\P{Cc}+$',
  description: 'for people; need not be unique',
})

const Config = Type.Unsafe<Record<string, unknown>>({
  type: 'object',
  additionalProperties: true,
  description:
    'What the type needs. What may be a secret is write-only and shown as `[redacted]`; sent back as that, it stays as it ' +
    'is. A field that is left out is taken away, but for secrets that we made. 64 KiB at most.',
})

const CorrectsDrift = Type.Boolean({
  description: 'access that somebody took away or gave back at the target by hand is put right, and not told alone',
})

export const NewProvisioner = Body({
  name: Name,
  provisioner_type: OneOf(provisionerTypes),
  config: Type.Optional(Config),
  serves: Type.Optional(Serves),
  enabled: Type.Optional(
    Type.Boolean({ description: 'true where it is left out; a disabled one gives nothing, and still takes away' }),
  ),
  corrects_drift: Type.Optional(CorrectsDrift),
})

/** What may be changed of a provisioner: the fields that are sent. */
export const ProvisionerChange = Body({
  name: Type.Optional(Name),
  config: Type.Optional(Config),
  serves: Type.Optional(Serves),
  enabled: Type.Optional(Type.Boolean()),
  corrects_drift: Type.Optional(CorrectsDrift),
})
export type ProvisionerChange = Static<typeof ProvisionerChange>

/** How many entitlements a provisioner still has to look after, at most `mostCounted`; asked with the provisioner locked. */
export type CountInUse = (tx: Tx, provisioner_id: string, maxCounted: number) => Promise<number>

const maxCounted = 1_000

/** Throws 409 where access that a provisioner gave, or may have given, could be left behind. `doing`: what would leave it. */
export async function requireUnused(tx: Tx, id: string, countInUse: CountInUse, doing: string): Promise<void> {
  const entitlements = await countInUse(tx, id, maxCounted)
  if (entitlements === 0) return
  const number = entitlements === maxCounted ? `${maxCounted} or more` : `${entitlements}`
  throw new Problem(
    'provisioner_in_use',
    `${doing} would leave access behind: entitlements at its target that are given, or not yet taken away: ${number}. ` +
      'End their grants, wait until they are gone, then try again; disabled, it gives nothing new meanwhile',
    { details: { entitlements } },
  )
}

import { type Static, Type } from 'typebox'
import { AnyObject, Body, DateTime, OneOf } from '../http/schema.ts'
import { Problem } from '../kernel/errors.ts'
import { numberField, type ShownFields, textField, urlField } from '../kernel/shown-field.ts'

export const aiProviderTypes = ['provider_a', 'provider_b', 'provider_c'] as const
export type AiProviderType = (typeof aiProviderTypes)[number]

/** A provider's config is kept for each type; at most one type is the default. */
export const AiProvider = Type.Object(
  {
    type: OneOf(aiProviderTypes),
    config: AnyObject,
    is_default: Type.Boolean(),
    updated_at: Type.Optional(DateTime),
  },
  { title: 'AiProvider' },
)
export type AiProvider = Static<typeof AiProvider>

/** The body of endpoint 9. */
export const AiProviderChoice = Body({ type: OneOf(aiProviderTypes) })

export const AiProviderConfig = Body({
  config: Type.Unsafe<Record<string, unknown>>({
    type: 'object',
    additionalProperties: true,
    description:
      'What may be a secret is write-only and shown as `[redacted]`; sent back as that, it stays as it is. A field ' +
      'that is left out is taken away. 64 KiB at most.',
  }),
})

/** The fields of a config that answers show; every other comes back as `[redacted]`. */
export const aiProviderFields: ShownFields = {
  base_url: urlField,
  url: urlField,
  endpoint: urlField,
  model: textField,
  deployment: textField,
  api_version: textField,
  temperature: numberField,
  max_tokens: numberField,
  timeout_seconds: numberField,
}

/** @throws Problem 400 for any other text; `details.allowed` lists the types */
export function requireAiProviderType(text: string): AiProviderType {
  const type = aiProviderTypes.find((known) => known === text)
  if (type !== undefined) return type
  const why = `must be one of ${aiProviderTypes.join(', ')}`
  throw new Problem('invalid_input', `\`type\` ${why}`, {
    details: { fields: [{ pointer: 'type', why }], allowed: aiProviderTypes },
  })
}

/** A type as the tables have it: null where its config was never set, and where it is not the default. */
export type AiProviderRow = {
  type: AiProviderType
  config: Record<string, unknown> | null
  is_default: boolean
  updated_at: string | null
}

/** Fills what was never set. */
export function aiProviderOf({ type, config, is_default, updated_at }: AiProviderRow): AiProvider {
  return { type, config: config ?? {}, is_default, ...(updated_at !== null && { updated_at }) }
}

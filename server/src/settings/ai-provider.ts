import { type Static, Type } from 'typebox'
import { AnyObject, Body, DateTime, Documented, OneOf } from '../http/schema.ts'
import { Problem } from '../kernel/errors.ts'
import { numberField, type ShownFields, textField, urlField } from '../kernel/shown-field.ts'

export const aiProviderTypes = ['provider_a', 'provider_b', 'provider_c'] as const
export type AiProviderType = (typeof aiProviderTypes)[number]

/** Each type has one provider config; at most one type is the default. */
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

/** `{type}` of a path. */
export const AiProviderParams = Type.Object({ type: Documented(Type.String(), { enum: aiProviderTypes }) })

/** The body of endpoint 9. */
export const AiProviderChoice = Body({ type: OneOf(aiProviderTypes) })

export const AiProviderConfig = Body({
  config: Type.Unsafe<Record<string, unknown>>({
    type: 'object',
    additionalProperties: true,
    description:
      'Every field that may be a secret is write-only and shown as `[redacted]`; send `[redacted]` to keep its value. ' +
      'An omitted field is removed. At most 64 KiB as JSON; a name of a field has at most 100 characters.',
  }),
})

/** The fields of a config that replies show. Every other field is returned as `[redacted]`. */
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

/** A type as stored: nulls for a config that was never set, and for a type that is not the default. */
export type AiProviderRow = {
  type: AiProviderType
  config: Record<string, unknown> | null
  is_default: boolean
  updated_at: string | null
}

/** Fills the fields that were never set. */
export function aiProviderOf({ type, config, is_default, updated_at }: AiProviderRow): AiProvider {
  return { type, config: config ?? {}, is_default, ...(updated_at !== null && { updated_at }) }
}

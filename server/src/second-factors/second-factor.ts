import { type Static, Type } from 'typebox'
import { AnyObject, Body, DateTime, Name, Nullable, OneOf } from '../http/schema.ts'
import { Problem } from '../kernel/errors.ts'

export const factorKinds = ['totp', 'passkey'] as const

/** A second factor of a user, as returned by the API. */
export const SecondFactor = Type.Object(
  {
    id: Type.String({ format: 'uuid' }),
    kind: OneOf(factorKinds, { description: '`totp`: an app with codes of six digits; `passkey`: a key of a device' }),
    name: Type.String(),
    created_at: DateTime,
    last_used_at: Nullable(Type.String({ format: 'date-time' })),
  },
  { title: 'SecondFactor' },
)
export type SecondFactor = Static<typeof SecondFactor>

export const NewSecondFactor = Body({
  kind: OneOf(factorKinds),
  name: Type.Optional(Name(200, { description: 'to know it again, such as `phone`' })),
})

/** The answer of a browser's WebAuthn call, as its `toJSON()` returns it. */
export const PasskeyAnswer = Type.Unsafe<Record<string, unknown>>({
  ...AnyObject,
  description: 'what `toJSON()` of the browser’s `PublicKeyCredential` returns',
})

/** The code of an app with codes. */
export const TotpCode = Type.String({ pattern: '^[0-9]{6}$', description: 'six digits, as the app shows them now' })

/** The recovery codes, shown once. */
export const RecoveryCodes = Type.Array(Type.String(), {
  description: 'each signs in once in place of the second factor; they are shown only here',
})

/** The maximum number of factors of one user. */
export const maxFactors = 10
/** How long a factor may be set up, in seconds. */
export const setUpSeconds = 600

export const usualNames: Readonly<Record<SecondFactor['kind'], string>> = {
  totp: 'authenticator app',
  passkey: 'passkey',
}

/** 422 for a browser that cannot have a passkey at the address of the service. */
export function noPasskeysHere(publicUrl: string): Problem {
  const why = `browsers make no passkeys at ${publicUrl}: they need https and a name, or \`localhost\``
  return new Problem('unprocessable', why, { details: { public_url: publicUrl } })
}

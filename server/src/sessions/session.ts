import { createHash } from 'node:crypto'
import { type Static, Type } from 'typebox'
import { DateTime, Nullable } from '../http/schema.ts'
import { onOneLine } from '../kernel/one-line-name.ts'

/** A sign-in of a user, as returned by the API: one for each token, and for each browser and program that stays signed in. */
export const Session = Type.Object(
  {
    id: Type.String({ format: 'uuid', description: 'the claim `sid` of the session’s tokens' }),
    browser: Type.Boolean({ description: 'whether a browser holds the session, by its cookie' }),
    program: Type.Boolean({ description: 'whether a program holds the session, by its refresh token' }),
    current: Type.Boolean({ description: 'whether it is the session of this call' }),
    amr: Type.Array(Type.String(), {
      description:
        'how the user proved who they are, as in RFC 8176; empty: nobody did, it is a token of the rehearsal',
    }),
    auth_time: Type.String({
      format: 'date-time',
      description: 'when they did; at a provider perhaps before `created_at`',
    }),
    source_ip: Type.String({ description: 'the address that signed in' }),
    user_agent: Nullable(Type.String({ description: 'the program that signed in, as it describes itself' })),
    created_at: DateTime,
    last_used_at: Type.String({ format: 'date-time', description: 'to the minute' }),
    ends_at: Type.String({ format: 'date-time', description: 'when it ends at the latest' }),
    idle_seconds: Nullable(
      Type.Integer({ description: 'how long it may go unused, in seconds; null: it ends at `ends_at`, used or not' }),
    ),
  },
  { title: 'Session' },
)
export type Session = Static<typeof Session>

/** How a user proved who they are. */
export type SignInProof = {
  amr: readonly string[]
  /** When, by the provider's clock; undefined: at this moment. */
  auth_time: Date | undefined
  /** The provider with its own names of the person and of the session there; undefined for a sign-in with a password. */
  by: { provider: string; issuer: string; sub: string; sid: string | undefined } | undefined
}

/** A new session, as stored. */
export type NewSession = SignInProof & {
  id: string
  source_ip: string
  user_agent: string | undefined
  lifetime_seconds: number
}

/** What an issuer calls a person and a session; at least one of the names is present. */
export type ProviderNames = { issuer: string; sub: string | undefined; sid: string | undefined }

/** The name of the operator's provider. A tenant's own has the id of its setting. */
export const globalProvider = 'global'

/**
 * The hash of a name that an issuer gives a person or a session: nothing else of it is needed. The provider of a tenant may become
 * another issuer's, which can use the same names.
 */
export function providerNameHash(issuer: string, name: string): Buffer {
  return createHash('sha256')
    .update(JSON.stringify([issuer, name]))
    .digest()
}

const maxUserAgent = 200

/** The `User-Agent` of a request on one line, cut to 200 characters; null for an absent or empty one. */
export function shownUserAgent(header: string | undefined): string | null {
  const line = [...onOneLine((header ?? '').toWellFormed())].slice(0, maxUserAgent).join('').trim()
  return line === '' ? null : line
}

/** The lifetimes of a session that a browser or a program holds, in seconds. */
export type SessionLimits = { max_seconds: number; idle_seconds: number }

import { Type } from 'typebox'
import { DateTime } from '../http/schema.ts'
import type { Actor, CallerOrigin } from '../kernel/context.ts'
import { Problem } from '../kernel/errors.ts'
import { newId } from '../kernel/id.ts'
import type { NewSession, SignInProof } from '../sessions/session.ts'
import { leeway, tokenLifetime } from './token.ts'

/** The reply of every sign-in. */
export const SignedIn = Type.Object(
  { token: Type.String({ description: 'a JWT, to send as `Authorization: Bearer`' }), expires_at: DateTime },
  { title: 'SignedIn' },
)

/** A refresh token in an answer. */
export const RefreshTokenText = Type.String({
  description: 'to send to `POST /v1/auth/refresh`, once, when the token expires; keep it secret',
})

/** @throws Problem 401 where the session could not be given away to stay signed in */
export function requireHeld<Held>(session: Held | undefined): Held {
  if (session !== undefined) return session
  const why = 'a session begins once, within 60 seconds of the sign-in; sign in again'
  throw new Problem('unauthenticated', why)
}

/** The user as the actor of their own sign-in, which needs no right. */
export function signedInUser(user_id: string): Actor {
  return { kind: 'user', user_id, api_key_id: null, scopes: new Set() }
}

/** Proof by a password alone, as RFC 8176 names it. */
export const byPassword: SignInProof = { amr: ['pwd'], auth_time: undefined, by: undefined }

/** The session of a new sign-in: it lives as long as its token, until a browser takes it. */
export function newSession(proof: SignInProof, from: Pick<CallerOrigin, 'source_ip' | 'user_agent'>): NewSession {
  const { source_ip, user_agent } = from
  return { id: newId(), ...proof, source_ip, user_agent, lifetime_seconds: tokenLifetime + leeway }
}

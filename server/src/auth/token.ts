import { Type } from 'typebox'
import { Compile } from 'typebox/compile'
import { isUuid } from '../kernel/id.ts'

/** How long a token is valid, in seconds. */
export const tokenLifetime = 3600
/** The tokens' audience: this service only. */
export const tokenAudience = 'sallyport'
export const tokenAlgorithm = 'EdDSA'
/** The explicit type of RFC 9068, so that an identity token of the same issuer does not pass as an access token. */
export const tokenType = 'at+jwt'
/** The tolerance for the times in a token, in seconds. */
export const leeway = 60

/** The claims of a token. `iat` and `exp` are seconds since 1970. */
export type Claims = {
  iss: string
  aud: string
  /** The user's id. */
  sub: string
  /** The tenant's id. */
  tid: string
  /** The session's id: the token is valid while the session lives. */
  sid: string
  iat: number
  exp: number
  jti: string
}

const Header = Compile(
  Type.Object(
    {
      alg: Type.Literal(tokenAlgorithm),
      typ: Type.Literal(tokenType),
      kid: Type.String({ pattern: '^[\\w-]{1,64}$' }),
    },
    // No `jwk`, `jku` or `crit`: the service's own tokens have none.
    { additionalProperties: false },
  ),
)

const Payload = Compile(
  Type.Object({
    iss: Type.String(),
    aud: Type.Literal(tokenAudience),
    sub: Type.String(),
    tid: Type.String(),
    sid: Type.String(),
    iat: Type.Integer(),
    exp: Type.Integer(),
    nbf: Type.Optional(Type.Integer()),
    jti: Type.String({ minLength: 1 }),
  }),
)

/** The id of the key that a token's header names; undefined for a header that is not the service's own. */
export function readHeader(header: unknown): string | undefined {
  return Header.Check(header) ? header.kid : undefined
}

/** The claims of a token whose signature was verified; undefined when it is not an access token of this service. */
export function readClaims(payload: unknown, issuer: string): Claims | undefined {
  if (!Payload.Check(payload) || payload.iss !== issuer) return undefined
  return [payload.sub, payload.tid, payload.sid].every(isUuid) ? payload : undefined
}

/** Whether the token is valid at this moment of the database's clock. */
export function isTokenLive(claims: Pick<Claims, 'iat' | 'exp'> & { nbf?: number }, now: Date): boolean {
  const seconds = now.getTime() / 1000
  return claims.exp + leeway > seconds && claims.iat - leeway <= seconds && (claims.nbf ?? 0) - leeway <= seconds
}

/** Longer tokens are refused unread: the service's own have some 500 characters. */
const maxTokenLength = 2_000
/** The last letter of a 64-byte signature holds two bits only. The others must be zero, so that a token has one spelling. */
const bearer = /^Bearer ([\w-]+\.[\w-]+\.[\w-]{85}[AQgw])$/

/** The token in an `Authorization` header, exactly `Bearer` and one space before it; undefined for any other text. */
export function readBearer(header: string): string | undefined {
  return header.length > maxTokenLength ? undefined : bearer.exec(header)?.[1]
}

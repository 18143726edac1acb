import { Type } from 'typebox'
import { Compile } from 'typebox/compile'
import { isUuid } from '../kernel/id.ts'

/** How long a token is good for, in seconds. */
export const tokenLifetime = 3600
/** For whom tokens are: this service and nobody else. */
export const tokenAudience = 'sallyport'
export const tokenAlgorithm = 'EdDSA'
/** The explicit type of RFC 9068: an identity token of the same issuer is no access token. */
export const tokenType = 'at+jwt'
/** By how much a moment in a token may be off, in seconds. */
export const leeway = 60

/** What a token says. `iat` and `exp` are seconds since 1970. */
export type Claims = {
  iss: string
  aud: string
  /** The user's id. */
  sub: string
  /** The tenant's id. */
  tid: string
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
    // No key by value or by address, nothing critical: the service's own tokens have none of it.
    { additionalProperties: false },
  ),
)

const Payload = Compile(
  Type.Object({
    iss: Type.String(),
    aud: Type.Literal(tokenAudience),
    sub: Type.String(),
    tid: Type.String(),
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

/** What a token says whose signature was found good; undefined where it is not one of this service's access tokens. */
export function readClaims(payload: unknown, issuer: string): Claims | undefined {
  if (!Payload.Check(payload) || payload.iss !== issuer || !isUuid(payload.sub) || !isUuid(payload.tid))
    return undefined
  return payload
}

/** Whether the claims hold at this moment of the database's clock. */
export function isTokenLive(claims: Pick<Claims, 'iat' | 'exp'> & { nbf?: number }, now: Date): boolean {
  const seconds = now.getTime() / 1000
  return claims.exp + leeway > seconds && claims.iat - leeway <= seconds && (claims.nbf ?? 0) - leeway <= seconds
}

/** The longest that is looked at: the service's own are some 500 characters. */
const maxTokenLength = 2_000
/** A signature is 64 bytes, whose last letter says two bits alone: the others are zero, so that a token has one spelling. */
const bearer = /^Bearer ([\w-]+\.[\w-]+\.[\w-]{85}[AQgw])$/

/** The token in an `Authorization` header, exactly `Bearer` and one space before it; undefined for any other text. */
export function readBearer(header: string): string | undefined {
  return header.length > maxTokenLength ? undefined : bearer.exec(header)?.[1]
}

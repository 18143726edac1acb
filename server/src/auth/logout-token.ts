import { createHash } from 'node:crypto'
import { parseStrictJson } from '../http/strict-json.ts'
import { isObject } from '../kernel/is-object.ts'
import { clockLeeway, RefusedByProvider } from './redeemed-account.ts'

/** Whose sessions a logout token ends: those of a person, or one session of theirs. At least one of the names is present. */
export type LogoutToken = { jti: string; sub: string | undefined; sid: string | undefined }

/** A token is obeyed for this many seconds after it was issued. */
const maxAge = 120
/** How long the id of an obeyed token is kept, in seconds: for longer than the token could be obeyed again. */
export const keptSeconds = 600
const maxLength = 20_000
const maxName = 1_000
const type = /^(application\/)?logout\+jwt$/i
const logoutEvent = 'http://schemas.openid.net/event/backchannel-logout'

/**
 * Reads a logout token of OpenID Connect Back-Channel Logout 1.0. The signature is for the caller to check.
 * @param now seconds since 1970, by the database's clock
 * @throws RefusedByProvider for any other text: an identity token, one for another client, one too old
 */
export function readLogoutToken(text: string, client: { issuer: string; client_id: string }, now: number): LogoutToken {
  const [header, payload] = text.length > maxLength ? [] : text.split('.').slice(0, 2).map(partOf)
  if (header === undefined || payload === undefined) throw refusal('is not a JWT')
  const { iss, aud, iat, exp, events, nonce, jti, sub, sid } = payload
  const faults: readonly (readonly [isFault: boolean, why: string])[] = [
    [!(typeof header.typ === 'string' && type.test(header.typ)), 'is not of the type `logout+jwt`'],
    // Such as a payload that is not encoded: the signature would be of another text than the one read here.
    [header.crit !== undefined, 'needs an extension'],
    [iss !== client.issuer, 'names another issuer'],
    [![aud].flat().includes(client.client_id), 'is for another client'],
    [
      !(typeof iat === 'number' && iat >= now - maxAge && iat <= now + clockLeeway),
      `was not issued in the last ${maxAge} seconds`,
    ],
    [exp !== undefined && !(typeof exp === 'number' && exp > now - clockLeeway), 'has expired'],
    [!(isObject(events) && isObject(events[logoutEvent])), 'names no logout'],
    [nonce !== undefined, 'has a `nonce`, as an identity token does'],
    [sub === undefined && sid === undefined, 'names neither a person nor a session'],
  ]
  const fault = faults.find(([isFault]) => isFault)
  if (fault !== undefined) throw refusal(fault[1])
  return { jti: requireName(jti, 'jti'), sub: nameIn(sub, 'sub'), sid: nameIn(sid, 'sid') }
}

/** The id under which an obeyed token is kept. */
export function logoutTokenId(provider: string, { jti }: LogoutToken): Buffer {
  return createHash('sha256')
    .update(JSON.stringify([provider, jti]))
    .digest()
}

function refusal(why: string): RefusedByProvider {
  return new RefusedByProvider(`the logout token ${why}`)
}

type Json = { [name: string]: unknown }

function nameIn(value: unknown, claim: string): string | undefined {
  return value === undefined ? undefined : requireName(value, claim)
}

function requireName(value: unknown, claim: string): string {
  if (typeof value === 'string' && value !== '' && value.length <= maxName) return value
  throw refusal(`has a missing or malformed \`${claim}\``)
}

/** Undefined for a part that is not a JSON object, or that parsers read differently. */
function partOf(part: string): Json | undefined {
  try {
    const value = parseStrictJson(Buffer.from(part, 'base64url').toString('utf8'), { depth: 8 })
    return isObject(value) ? value : undefined
  } catch {
    return undefined
  }
}

/** The account that a redeemed code stands for, from the checked identity token and the provider's user info. */
import { readEmail } from '../kernel/email-address.ts'
import type { ProviderAccount } from '../users/provider-user.ts'

/** An account with all claims that its provider made about it. */
export type RedeemedAccount = ProviderAccount & { claims: Claims }

type Claims = Readonly<Record<string, unknown>>

/** Why a code was refused, for the audit log. The reason is on one line, since quoted text may come from a provider. */
export class RefusedByProvider extends Error {
  constructor(why: string, options?: ErrorOptions) {
    super(lineOf(why, 300), options)
  }
}

/** The maximum difference of a provider's clock, in seconds. */
export const clockLeeway = 60

/**
 * Checks what the library does not check of an identity token.
 * @param now seconds since 1970, by the database's clock
 * @throws RefusedByProvider for a token from the future or for another client
 */
export function requireForClient(claims: { iat: number; azp?: unknown }, client_id: string, now: number): void {
  if (claims.iat > now + clockLeeway) throw new RefusedByProvider('the identity token is from the future')
  if (claims.azp !== undefined && claims.azp !== client_id) {
    throw new RefusedByProvider('the identity token is for another client')
  }
}

/**
 * Reads the account. The address and its verification come from one source: the identity token when it has an address,
 * else the user info.
 * @throws RefusedByProvider for an invalid subject
 */
export function readAccount(issuer: string, claims: Claims & { sub: string }, info: Claims): RedeemedAccount {
  const { sub: subject } = claims
  if (subject.length === 0 || subject.length > 255 || subject.includes('\0') || !subject.isWellFormed()) {
    throw new RefusedByProvider('the subject is empty, too long or malformed')
  }
  const { email, email_verified } = claims.email === undefined ? info : claims
  return {
    issuer,
    subject,
    email: typeof email === 'string' ? readEmail(email) : undefined,
    email_verified: email_verified === true,
    name: readName(claims.name) ?? readName(info.name),
    claims: { ...info, ...claims },
  }
}

/** The name on one line, cut to 200 characters; undefined for an empty one or a value that is not text. */
function readName(claim: unknown): string | undefined {
  if (typeof claim !== 'string') return undefined
  const name = lineOf(claim, 200)
  return name === '' ? undefined : name
}

/** Cuts a foreign text to one line of `max` characters that the database can store. */
function lineOf(text: string, max: number): string {
  const line = text
    .toWellFormed()
    .replace(/\p{Cc}+/gu, ' ')
    .trim()
  return [...line].slice(0, max).join('')
}

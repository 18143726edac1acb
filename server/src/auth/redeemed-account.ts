/** The account that a redeemed code stands for: what its identity token and its provider's user info say, checked. */
import { readEmail } from '../kernel/email-address.ts'
import type { ProviderAccount } from '../users/provider-user.ts'

/** An account with what else its provider said of it. */
export type RedeemedAccount = ProviderAccount & { claims: Claims }

type Claims = Readonly<Record<string, unknown>>

/** Why a code was refused, for the audit log: on one line, since the quoted text may come from a provider. */
export class RefusedByProvider extends Error {
  constructor(why: string, options?: ErrorOptions) {
    super(lineOf(why, 300), options)
  }
}

/** By how much a provider's clock may differ, in seconds. */
export const clockLeeway = 60

/**
 * What the library does not check of an identity token.
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
 * The account. The address and its verification come from one place: the identity token where it has an address, else the
 * user info.
 * @throws RefusedByProvider for a subject that is not of the form of one
 */
export function readAccount(issuer: string, claims: Claims & { sub: string }, info: Claims): RedeemedAccount {
  const { sub: subject } = claims
  if (subject.length === 0 || subject.length > 255 || subject.includes('\0') || !subject.isWellFormed()) {
    throw new RefusedByProvider('the subject is not of the form of one')
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

/** A name on one line, of 200 characters at most; undefined for anything else. */
function readName(claim: unknown): string | undefined {
  if (typeof claim !== 'string') return undefined
  const name = lineOf(claim, 200)
  return name === '' ? undefined : name
}

/** As much of a foreign text as fits on a line of `max` characters, and into the database. */
function lineOf(text: string, max: number): string {
  const line = text
    .toWellFormed()
    .replace(/\p{Cc}+/gu, ' ')
    .trim()
  return [...line].slice(0, max).join('')
}

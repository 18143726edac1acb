/** The account that a redeemed code stands for, from the checked identity token and the provider's user info. */
import { readEmail } from '../kernel/email-address.ts'
import { isName, onOneLine } from '../kernel/one-line-name.ts'
import type { SignInProof } from '../sessions/session.ts'
import type { ClaimTrust } from '../settings/sign-in-setting.ts'
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
export function readAccount(
  issuer: string,
  claims: Claims,
  info: Claims,
  { subject_claim, email_trust }: ClaimTrust,
): RedeemedAccount {
  const source = claims.email === undefined ? info : claims
  const { email } = source
  return {
    issuer,
    subject: readSubject(claims[subject_claim], subject_claim),
    email: typeof email === 'string' ? readEmail(email) : undefined,
    email_verified: email_trust === 'claim' ? isVerified(source) : email_trust === 'always',
    name: readName(claims.name) ?? readName(info.name),
    claims: { ...info, ...claims, ...signInClaims(claims) },
  }
}

/** What is said of the sign-in: by the identity token alone, since user info is about a person, who may edit some of it. */
function signInClaims({ amr, auth_time, sid }: Claims): Claims {
  return { amr, auth_time, sid }
}

/** The longest name of a session that is kept; a provider that uses a longer one cannot end that session alone. */
const maxSid = 1_000
const maxMethods = 20

/** What the account's provider says of how and when the user signed in there. Whatever is malformed counts as not said. */
export function proofIn({ issuer, claims }: RedeemedAccount, provider: string): SignInProof & { by: object } {
  const { amr, auth_time, sub, sid } = claims
  const methods = Array.isArray(amr)
    ? amr.filter((method) => typeof method === 'string' && methodForm.test(method))
    : []
  return {
    amr: methods.slice(0, maxMethods),
    auth_time: isMoment(auth_time) ? new Date(auth_time * 1000) : undefined,
    by: { provider, issuer, sub: String(sub), sid: typeof sid === 'string' && sid.length <= maxSid ? sid : undefined },
  }
}

const methodForm = /^[\w.:/-]{1,100}$/

/** Seconds from 1970 to 9999, so that the database can store them. */
function isMoment(claim: unknown): claim is number {
  return typeof claim === 'number' && claim >= 0 && claim < 253_000_000_000
}

function readSubject(subject: unknown, claim: string): string {
  const valid = typeof subject === 'string' && subject !== '' && subject.length <= 255 && !subject.includes('\0')
  if (valid && subject.isWellFormed()) return subject
  throw new RefusedByProvider(`the subject (\`${claim}\`) is missing, too long or malformed`)
}

/**
 * Whether the provider vouches for the address. Microsoft Entra sends no `email_verified`. Its `xms_edov` says that the owner of
 * the address’s domain is verified; Entra writes it as a boolean, a number or a text.
 */
function isVerified({ email_verified, xms_edov }: Claims): boolean {
  if (email_verified !== undefined) return email_verified === true
  return [true, 1, '1', 'true'].some((yes) => yes === xms_edov)
}

/** The name on one line, cut to 200 characters; undefined where one sees no name, or for a value that is not text. */
function readName(claim: unknown): string | undefined {
  if (typeof claim !== 'string') return undefined
  const name = lineOf(claim, 200)
  return isName(name) ? name : undefined
}

/** Cuts a foreign text to one line of `max` characters that the database can store. */
function lineOf(text: string, max: number): string {
  return [...onOneLine(text.toWellFormed())].slice(0, max).join('')
}

/** The rule for what a stolen session must not do: it needs a sign-in within the last hour. */
import type { SignInSession } from './context.ts'
import { Problem } from './errors.ts'

/** How old a sign-in may be for a change of who may do what, in seconds. */
const maxSignInAge = 3_600

/** The entry in `amr` (RFC 8176) of a sign-in with more than one factor, and its name in `acr`. */
export const multiFactor = 'mfa'

/** @param now by the database's clock */
export function isFresh({ auth_time }: SignInSession, now: Date): boolean {
  return now.getTime() - auth_time.getTime() <= maxSignInAge * 1000
}

/** 403 that says which sign-in the caller needs. `acr`: with a second factor; null: with any means. */
export function signInAgain(message: string, acr: typeof multiFactor | null): Problem {
  return new Problem('sign_in_again', message, { details: { max_age: maxSignInAge, acr } })
}

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

/**
 * Why the caller must sign in again before a change of who may do what; undefined when they need not. A stolen session is of less use
 * when what matters most needs the password again. An API key is bounded by its scopes alone.
 */
export function findStaleness({ session, now }: { session: SignInSession | null; now: Date }): Problem | undefined {
  if (session === null || !session.in_live || isFresh(session, now)) return undefined
  return signInAgain('this needs a sign-in within the last hour; sign in again, then send it again', null)
}

/** For an operation of which only some calls change who may do what; `freshSignIn` is for those of which all do. @throws Problem 403 */
export function requireFreshSignIn(caller: Parameters<typeof findStaleness>[0]): void {
  const problem = findStaleness(caller)
  if (problem !== undefined) throw problem
}

/** 403 that says which sign-in the caller needs. `acr`: with a second factor; null: with any means. */
export function signInAgain(message: string, acr: typeof multiFactor | null): Problem {
  return new Problem('sign_in_again', message, { details: { max_age: maxSignInAge, acr } })
}

import type { Ctx } from '../kernel/context.ts'
import { isFresh, multiFactor, signInAgain } from '../kernel/fresh-sign-in.ts'

/** Whether the caller signed in with a second factor. */
export function isMultiFactor({ session }: Ctx): boolean {
  return session?.amr.includes(multiFactor) === true
}

/**
 * INVARIANT: a stolen session, or a password alone, is no way to the second factor of a user who has one.
 * @throws Problem 403 `sign_in_again`
 */
export function requireStrongSignIn(ctx: Ctx, { hasFactor }: { hasFactor: boolean }): void {
  const { session, now } = ctx
  if (session !== null && isFresh(session, now) && (isMultiFactor(ctx) || !hasFactor)) return
  const how = hasFactor ? ' with a second factor' : ''
  throw signInAgain(`this needs a sign-in${how} within the last hour; sign in again`, hasFactor ? multiFactor : null)
}

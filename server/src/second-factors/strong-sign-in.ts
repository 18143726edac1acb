import type { Ctx } from '../kernel/context.ts'
import { Problem } from '../kernel/errors.ts'
import { multiFactor } from './second-factor.ts'

/** How old a sign-in may be for a change of one's second factors, in seconds. */
const maxAge = 3_600

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
  const isFresh = session !== null && now.getTime() - session.auth_time.getTime() <= maxAge * 1000
  if (isFresh && (isMultiFactor(ctx) || !hasFactor)) return
  const how = hasFactor ? ' with a second factor' : ''
  throw new Problem('sign_in_again', `this needs a sign-in${how} within the last hour; sign in again`, {
    details: { max_age: maxAge, acr: hasFactor ? multiFactor : null },
  })
}

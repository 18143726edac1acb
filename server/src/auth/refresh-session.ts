import { Type } from 'typebox'
import { operation } from '../http/operation.ts'
import { Body } from '../http/schema.ts'
import { sourceOf } from '../http/source.ts'
import { type Limit, openBuckets, rateLimited } from '../kernel/bucket.ts'
import { Problem, tenantSuspended } from '../kernel/errors.ts'
import { readRefreshToken } from '../sessions/refresh-token.ts'
import { exchangeRefreshToken, waitsInSuspendedTenant } from './refresh-store.ts'
import { RefreshTokenText, SignedIn } from './signed-in.ts'
import { tokenLifetime } from './token.ts'

const RefreshedSession = Type.Object(
  {
    ...SignedIn.properties,
    refresh_token: RefreshTokenText,
    ends_at: Type.String({ format: 'date-time', description: 'the end of the session: sign in again then' }),
  },
  { title: 'RefreshedSession' },
)

/**
 * How often the tokens of one session may be used. A program needs one an hour; several of its processes may come at once. Only who had one
 * of the tokens counts here, as the key is a part of them: nobody else can use the limit up.
 */
const useLimit: Limit = { name: 'refresh', quota: 30, seconds: 600 }
const uses = openBuckets(useLimit)

/**
 * Gives a program the next token of its session. The rights of the user are read again at each call of the token. How and when the user
 * signed in stays as it was: what needs a fresher or stronger sign-in is refused. Every refusal is the same.
 */
export const refreshSession = operation({
  method: 'POST',
  path: '/v1/auth/refresh',
  summary: 'Exchange a refresh token for a token and the next refresh token',
  credential: 'none',
  scope: null,
  limitedBy: 'refreshes',
  body: Body({ refresh_token: Type.String({ maxLength: 2_000 }) }),
  replies: { 200: RefreshedSession },
  errors: ['unauthenticated', 'tenant_suspended'],
  tenantIn: ({ refresh_token }) => readRefreshToken(refresh_token)?.tenant_id,
  async run(ctx, { body }) {
    const claim = readRefreshToken(body.refresh_token)
    if (claim === undefined) throw refusal()
    const { tx, source_ip } = ctx
    const { allowed, retrySeconds } = uses.take(claim.family_hash.toString('base64'))
    if (!allowed) throw rateLimited(useLimit, retrySeconds)
    const refreshed = await exchangeRefreshToken(ctx, { claim, source: sourceOf(source_ip), source_ip })
    if (refreshed === 'ended') ctx.dropAdmissions(tx.tenant_id)
    if (refreshed === undefined && (await waitsInSuspendedTenant(tx, claim))) throw tenantSuspended()
    if (refreshed === undefined || refreshed === 'ended') throw refusal()
    const { user_id, refresh_token, ends_at, seconds_left, now } = refreshed
    const subject = { tenant_id: tx.tenant_id, user_id, session_id: claim.id, now: new Date(now) }
    // A token lives for a second at least; its session ends it earlier.
    const token = await ctx.tokens.issue(subject, Math.min(tokenLifetime, Math.max(seconds_left, 1)))
    return { ...token, refresh_token, ends_at }
  },
})

function refusal(): Problem {
  return new Problem('unauthenticated', 'the refresh token was used before, or its session is over; sign in again')
}

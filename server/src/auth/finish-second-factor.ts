import { Type } from 'typebox'
import { refuseSampled } from '../events/sample.ts'
import { operation } from '../http/operation.ts'
import { Body } from '../http/schema.ts'
import { rateLimited } from '../kernel/bucket.ts'
import type { Ctx } from '../kernel/context.ts'
import { invalidInput, Problem } from '../kernel/errors.ts'
import type { FactorProof } from '../second-factors/proof-store.ts'
import { PasskeyAnswer, TotpCode } from '../second-factors/second-factor.ts'
import { tryChallenge } from '../sessions/challenge-store.ts'
import { readSessionSecret } from '../sessions/session-secret.ts'
import { isInSuspendedTenant } from '../users/active-store.ts'
import { accountLimit, totpCodesOf } from '../users/sign-in-failure.ts'
import { countFailure } from '../users/sign-in-failure-store.ts'
import { finishSignIn } from './finished-sign-in-store.ts'
import { checkProof, meansOf } from './second-factor-challenge.flow.ts'
import { newSession, SignedIn, signedInUser } from './signed-in.ts'
import { refuseInSuspendedTenant } from './suspended-tenant.flow.ts'

/** Finishes a sign-in with a second factor. Every refusal has the same answer. The challenge names the tenant. */
export const finishSecondFactor = operation({
  method: 'POST',
  path: '/v1/auth/second-factor',
  summary: 'Finish a sign-in with a second factor',
  credential: 'none',
  scope: null,
  limitedBy: 'failures',
  body: Body({
    challenge: Type.String({
      maxLength: 200,
      description: 'from the answer `second_factor_required`; with it, exactly one of the others',
    }),
    totp: Type.Optional(TotpCode),
    passkey: Type.Optional(PasskeyAnswer),
    recovery_code: Type.Optional(Type.String({ minLength: 1, maxLength: 100 })),
  }),
  replies: { 200: SignedIn },
  errors: ['unauthenticated', 'tenant_suspended'],
  tenantIn: ({ challenge }) => readSessionSecret(challenge)?.tenant_id,
  async run(ctx, { body, header }) {
    const { challenge, ...sent } = body
    if (Object.keys(sent).length !== 1) {
      throw invalidInput([{ pointer: '', why: 'must have exactly one of `totp`, `passkey` and `recovery_code`' }])
    }
    const claim = readSessionSecret(challenge)
    const tried = claim && (await tryChallenge(ctx.tx, claim.id, claim.cookie_hash))
    if (claim === undefined || tried === undefined) throw refusal()
    const { user_id } = tried
    if (sent.totp !== undefined) await countGuess(ctx, user_id)
    const proof = await checkProof(ctx, tried, sent)
    if (proof === undefined) return refuse(ctx, user_id, 'wrong_second_factor')
    const { source_ip } = ctx
    if (await isInSuspendedTenant(ctx.tx)) return refuseInSuspendedTenant(ctx, user_id, source_ip)
    const means = { amr: meansOf(proof), auth_time: undefined, by: undefined }
    const session = newSession(means, { source_ip, user_agent: header('user-agent') })
    if (!(await finish(ctx, { challenge_id: claim.id, user_id, proof }, session))) {
      return refuse(ctx, user_id, 'second_factor_used')
    }
    return ctx.tokens.issue({ tenant_id: claim.tenant_id, user_id, session_id: session.id, now: new Date(tried.now) })
  },
})

/**
 * Counts a code of an app before it is checked, so that many at once are not more than ten. Nobody guesses a passkey's signature or a
 * recovery code: these are checked also over the limit, so that nobody who knows the password keeps the user out.
 * @throws Problem 429 over the limit
 */
async function countGuess(ctx: Ctx, user_id: string): Promise<void> {
  const { failures, seconds_left } = await countFailure(ctx, totpCodesOf(user_id))
  if (failures > accountLimit.quota) await refuse(ctx, user_id, 'limited', rateLimited(accountLimit, seconds_left))
}

type Finished = { challenge_id: string; user_id: string; proof: FactorProof }

function finish(ctx: Ctx, finished: Finished, session: ReturnType<typeof newSession>): Promise<boolean> {
  const { user_id, proof } = finished
  const data = { source_ip: ctx.source_ip, sid: session.id, second_factor: proof.method }
  const event = { type: 'auth.signed_in', subject_type: 'user', subject_id: user_id, data } as const
  return finishSignIn({ ...ctx, actor: signedInUser(user_id) }, finished, { event, session })
}

function refuse(ctx: Ctx, user_id: string, cause: string, problem = refusal()): Promise<never> {
  const data = { cause, source_ip: ctx.source_ip }
  return refuseSampled(ctx, problem, { type: 'auth.refused', subject_type: 'user', subject_id: user_id, data })
}

function refusal(): Problem {
  return new Problem('unauthenticated', 'the second factor is wrong, was used before, or came too late; sign in again')
}

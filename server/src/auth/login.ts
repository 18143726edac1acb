import { Type } from 'typebox'
import { emit, type NewEvent } from '../events/emit.ts'
import { sample } from '../events/sample.ts'
import { operation } from '../http/operation.ts'
import { Body } from '../http/schema.ts'
import { rateLimited } from '../kernel/bucket.ts'
import type { Ctx } from '../kernel/context.ts'
import { Problem } from '../kernel/errors.ts'
import { challengeCleanup, challengeInsert } from '../sessions/challenge-store.ts'
import { sessionCleanup, sessionInsert } from '../sessions/session-store.ts'
import { unknownTenants, verifyPassword } from '../users/password.ts'
import { accountLimit, accountOf } from '../users/sign-in-failure.ts'
import {
  type Beginning,
  countFailure,
  countFailureWithoutTenant,
  recordPassword,
} from '../users/sign-in-failure-store.ts'
import { inactiveCause } from '../users/user.ts'
import { findSignIn, type SignIn } from '../users/user-store.ts'
import { makeChallenge } from './second-factor-challenge.flow.ts'
import { byPassword, newSession, SignedIn, signedInUser } from './signed-in.ts'
import { refuseInSuspendedTenant } from './suspended-tenant.flow.ts'

/**
 * Signs a local user in. Every refusal has the same answer and the same work, so that it does not reveal which addresses
 * and tenants exist.
 */
export const login = operation({
  method: 'POST',
  path: '/v1/auth/login',
  summary: 'Sign in with e-mail and password',
  credential: 'tenant',
  scope: null,
  limitedBy: 'failures',
  body: Body({ email: Type.String({ maxLength: 1000 }), password: Type.String({ maxLength: 1000 }) }),
  replies: { 200: SignedIn },
  errors: ['unauthenticated', 'second_factor_required', 'tenant_suspended'],
  async run(ctx, { body: { email, password }, header }) {
    const found = await findSignIn(ctx.tx, email)
    if (found.limited_for !== null) return refuseLimited(ctx, found, found.limited_for)
    const matches = await verifyPassword(found.has_tenant ? ctx.tx : unknownTenants, password, found.hash ?? undefined)
    const cause = causeOfRefusal(found, matches)
    if (cause !== undefined || found.user_id === null) return refuseFailed(ctx, email, found, cause)
    const { user_id } = found
    if (found.tenant_suspended) return refuseInSuspendedTenant(ctx, user_id, ctx.source_ip)
    const known = { ...found, user_id }
    if (found.has_second_factor) return challengeForFactor(ctx, email, known)
    const { source_ip } = ctx
    const session = newSession(byPassword, { source_ip, user_agent: header('user-agent') })
    const event = about(found, 'auth.signed_in', { source_ip, sid: session.id })
    await begin(ctx, email, known, {
      insert: (whom) => sessionInsert(ctx.tx, session, whom),
      cleanup: sessionCleanup(ctx.tx, user_id),
      event: { ...event, by: signedInUser(user_id) },
    })
    return ctx.tokens.issue({ tenant_id: ctx.tx.tenant_id, user_id, session_id: session.id, now: new Date(found.now) })
  },
})

/** The password is right. The user goes on with a second factor, and nobody without the password learns that there is one. */
async function challengeForFactor(ctx: Ctx, email: string, found: KnownUser): Promise<never> {
  const { challenge, details } = await makeChallenge(ctx, found.user_id)
  // A right password is no failure, so no limit of failures bounds how often somebody who knows it causes this event.
  const event = sample(ctx, about(found, 'auth.second_factor_required', { source_ip: ctx.source_ip }))
  await begin(ctx, email, found, {
    insert: (whom) => challengeInsert(ctx.tx, challenge, whom),
    cleanup: challengeCleanup(ctx.tx, found.user_id),
    ...(event !== undefined && { event }),
  })
  throw new Problem('second_factor_required', 'the sign-in needs your second factor: `POST /v1/auth/second-factor`', {
    details,
  })
}

type KnownUser = SignIn & { user_id: string }

/** Begins what the right password begins. @throws Problem 401 when something changed while it was checked, 429 over the limit */
async function begin(ctx: Ctx, email: string, found: KnownUser, beginning: Beginning): Promise<void> {
  const recorded = await recordPassword(ctx, found, accountOf(email), beginning)
  if (recorded === 'limited') return refuseLimited(ctx, found, accountLimit.seconds)
  if (recorded === undefined) return refuseFailed(ctx, email, found, 'changed_meanwhile')
}

/** Counts the failure alike for known and unknown users and tenants. Of many failures, only a sample is recorded in the audit log. */
async function refuseFailed(ctx: Ctx, email: string, found: SignIn, cause?: string): Promise<never> {
  const { failures, seconds_left } = found.has_tenant
    ? await countFailure(ctx, accountOf(email), sampleRefusal(ctx, found, cause))
    : await countFailureWithoutTenant(ctx.tx, email)
  throw failures > accountLimit.quota ? rateLimited(accountLimit, seconds_left) : refusal()
}

/**
 * Refuses without checking the password. The event is written in the background, so that the time of the answer does not
 * reveal the user. The failures that led here were recorded reliably, so a lost event costs little.
 */
function refuseLimited(ctx: Ctx, found: SignIn, seconds: number): never {
  const event = found.has_tenant ? sampleRefusal(ctx, found, 'limited') : undefined
  if (event !== undefined) void ctx.tx.write([emit(ctx, event)]).catch(() => undefined)
  throw rateLimited(accountLimit, seconds)
}

function sampleRefusal(ctx: Ctx, found: SignIn, cause: string | undefined): NewEvent | undefined {
  return sample(ctx, about(found, 'auth.refused', { cause, source_ip: ctx.source_ip }))
}

function about(
  { user_id }: SignIn,
  type: 'auth.signed_in' | 'auth.second_factor_required' | 'auth.refused',
  data: NewEvent['data'] & object,
): NewEvent {
  return { type, subject_type: 'user', subject_id: user_id ?? 'unknown', data }
}

function refusal(): Problem {
  return new Problem('unauthenticated', 'the e-mail address or the password is wrong; check both and try again')
}

/** Why a sign-in is refused, for the audit log only; undefined when it is not refused. */
export function causeOfRefusal(
  found: Omit<SignIn, 'has_tenant' | 'tenant_suspended' | 'now' | 'limited_for' | 'has_second_factor'>,
  matches: boolean,
): string | undefined {
  if (found.user_id === null) return 'unknown_user'
  if (found.auth_provider !== 'local') return 'not_local'
  return inactiveCause(found) ?? (matches ? undefined : 'wrong_password')
}

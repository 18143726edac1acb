import { Type } from 'typebox'
import { emit, refuse } from '../events/emit.ts'
import { operation } from '../http/operation.ts'
import { Body } from '../http/schema.ts'
import type { Actor } from '../kernel/context.ts'
import { Problem } from '../kernel/errors.ts'
import { verifyPassword } from '../users/password.ts'
import { findSignIn, type SignIn } from '../users/user-store.ts'
import { SignedIn } from './signed-in.ts'

/**
 * Signs a local user in. Whatever is wrong, the answer and the work are the same: nobody learns which addresses and
 * tenants there are.
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
  errors: ['unauthenticated'],
  async run(ctx, { body }) {
    const found = await findSignIn(ctx.tx, body.email)
    const matches = await verifyPassword(body.password, found?.hash ?? undefined)
    const cause = causeOfRefusal(found, matches)
    const refusal = new Problem('unauthenticated', 'the e-mail address or the password is not right')
    if (found === undefined) throw refusal
    const data = { cause, source_ip: ctx.source_ip }
    const about = { subject_type: 'user', subject_id: found.user_id ?? 'unknown' } as const
    if (cause !== undefined || found.user_id === null) {
      return refuse(ctx, refusal, { type: 'auth.refused', ...about, data })
    }
    const { user_id } = found
    const actor: Actor = { kind: 'user', user_id, api_key_id: null, scopes: new Set() }
    await ctx.tx.write([emit({ ...ctx, actor }, { type: 'auth.signed_in', ...about, data })])
    return ctx.tokens.issue({ tenant_id: ctx.tx.tenant_id, user_id, now: new Date(found.now) })
  },
})

/** Why a sign-in is refused, for the audit log alone; undefined where it is not. */
export function causeOfRefusal(found: Omit<SignIn, 'now'> | undefined, matches: boolean): string | undefined {
  if (found === undefined || found.user_id === null) return 'unknown_user'
  if (found.auth_provider !== 'local') return 'not_local'
  if (!found.active) return 'inactive'
  return matches ? undefined : 'wrong_password'
}

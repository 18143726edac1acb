import { keepRefusal } from '../events/keep-refusal.ts'
import { operation } from '../http/operation.ts'
import { IdParams } from '../http/schema.ts'
import type { Actor } from '../kernel/context.ts'
import { notFound, Problem } from '../kernel/errors.ts'
import { factorsEnd, factorsReset } from '../second-factors/second-factor-store.ts'
import { sessionsEnd } from '../sessions/session-store.ts'
import { requireMayTakeFrom } from './lifecycle.ts'
import { lockUser } from './lifecycle-store.ts'

/**
 * Removes the second factors and the recovery codes of a user who has lost them, and ends their sessions. The password alone signs in
 * then, so the caller needs every scope that the user holds.
 */
export const resetSecondFactors = operation({
  method: 'DELETE',
  path: '/v1/users/{id}/second-factors',
  summary: 'Remove the second factors of a user who has lost them',
  credential: 'any',
  scope: 'users:write',
  freshSignIn: true,
  params: IdParams,
  replies: { 204: null },
  errors: [],
  changes: 'authority',
  run(ctx, { params }): Promise<undefined> {
    return keepRefusal(ctx, { subject_type: 'user', subject_id: params.id }, () =>
      ctx.tx.interactive(async (tx) => {
        const user = await lockUser(tx, params.id)
        if (user === undefined) throw notFound('user')
        requireOfAnother(ctx.actor, user.id)
        requireMayTakeFrom(user, ctx.actor)
        await tx.write([...factorsEnd(tx, user.id), sessionsEnd(tx, user.id), factorsReset({ ...ctx, tx }, user.id)])
        return undefined
      }),
    )
  },
})

/** One's own are removed by a sign-in with one of them: a session from before they were set up, or an API key, must not be enough. */
function requireOfAnother({ user_id }: Actor, id: string): void {
  if (user_id !== id) return
  throw new Problem('forbidden', 'remove your own second factors at `/v1/users/me/second-factors`')
}

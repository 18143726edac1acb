import { keepRefusal } from '../events/keep-refusal.ts'
import { recordTag } from '../http/if-match.ts'
import { operation } from '../http/operation.ts'
import { IdParams } from '../http/schema.ts'
import { notFound } from '../kernel/errors.ts'
import { requireMayGive } from '../roles/role.ts'
import { endSuspension, lockUser } from './lifecycle-store.ts'
import { User } from './user.ts'
import { findUser } from './user-store.ts'

/**
 * Ends the suspension of a user. The user's rights come back, so the caller must hold every scope that the user holds. For a
 * user who is not suspended it changes nothing and emits no event.
 */
export const unsuspendUser = operation({
  method: 'POST',
  path: '/v1/users/{id}/unsuspend',
  summary: 'End the suspension of a user',
  credential: 'any',
  scope: 'users:write',
  freshSignIn: true,
  params: IdParams,
  replies: { 200: User },
  errors: ['not_found'],
  changes: 'authority',
  etag: recordTag,
  run(ctx, { params }) {
    return keepRefusal(ctx, { subject_type: 'user', subject_id: params.id }, () =>
      ctx.tx.interactive(async (tx) => {
        const user = await lockUser(tx, params.id)
        if (user === undefined) throw notFound('user')
        if (user.suspended) {
          requireMayGive(ctx.actor.scopes, user.scopes)
          await endSuspension({ ...ctx, tx }, user)
        }
        const found = await findUser(tx, user.id)
        if (found === undefined) throw new Error('a locked user was not found')
        return found
      }),
    )
  },
})

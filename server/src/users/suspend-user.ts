import { recordTag } from '../http/if-match.ts'
import { operation } from '../http/operation.ts'
import { IdParams } from '../http/schema.ts'
import { notFound } from '../kernel/errors.ts'
import { type EndAccess, requireMaySuspend } from './lifecycle.ts'
import { leave, lockUser, saveSuspension } from './lifecycle-store.ts'
import { User } from './user.ts'
import { findUser } from './user-store.ts'

/**
 * Suspends a user for 24 hours from now. It needs none of the user's scopes, unlike a deactivation, so that everybody who manages
 * users can stop anybody fast. It takes no role, ends by itself, and the owners are notified. It ends access as a
 * deactivation does. For a user who was suspended less than an hour ago it changes nothing and emits no event.
 */
export const suspendUser = (endAccess: EndAccess) =>
  operation({
    method: 'POST',
    path: '/v1/users/{id}/suspend',
    summary: 'Suspend a user for 24 hours',
    credential: 'any',
    scope: 'users:write',
    params: IdParams,
    replies: { 200: User },
    errors: ['not_found', 'last_owner', 'unprocessable'],
    changes: 'authority',
    etag: recordTag,
    run(ctx, { params }) {
      return ctx.tx.interactive(async (tx) => {
        const inside = { ...ctx, tx }
        const user = await lockUser(tx, params.id)
        if (user === undefined) throw notFound('user')
        requireMaySuspend(user)
        if (await saveSuspension(inside, user)) await leave(inside, user, endAccess, 'its holder was suspended')
        const suspended = await findUser(tx, user.id)
        if (suspended === undefined) throw new Error('a locked user was not found')
        return suspended
      })
    },
  })

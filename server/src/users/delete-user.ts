import { keepRefusal } from '../events/keep-refusal.ts'
import { readIfMatch, recordTag, requireMatch } from '../http/if-match.ts'
import { operation } from '../http/operation.ts'
import { IdParams } from '../http/schema.ts'
import { notFound } from '../kernel/errors.ts'
import { type EndAccess, requireMayTakeFrom, requireOwnerLeft } from './lifecycle.ts'
import { leave, lockUser, saveUserDeletion } from './lifecycle-store.ts'
import { requireManagedHere } from './managed.ts'
import { findUser } from './user-store.ts'

/**
 * Deletes a user. It ends access as a deactivation does, permanently, and needs every scope that the user holds. The id is
 * never reused; the address may be. A directory deletes its own users, until it has deactivated them.
 */
export const deleteUser = (endAccess: EndAccess) =>
  operation({
    method: 'DELETE',
    path: '/v1/users/{id}',
    summary: 'Delete a user',
    credential: 'any',
    scope: 'users:write',
    params: IdParams,
    replies: { 204: null },
    errors: ['not_found', 'last_owner'],
    changes: 'authority',
    takesIfMatch: true,
    run(ctx, { params, header }): Promise<undefined> {
      const tags = readIfMatch(header('if-match'))
      return keepRefusal(ctx, { subject_type: 'user', subject_id: params.id }, () =>
        ctx.tx.interactive(async (tx) => {
          const inside = { ...ctx, tx }
          const user = await lockUser(tx, params.id)
          if (user === undefined) throw notFound('user')
          // Whom their directory has stopped may go for good: their address is then free.
          if (user.active) requireManagedHere(user)
          requireMayTakeFrom(user, ctx.actor)
          requireOwnerLeft(user)
          const before = await findUser(tx, user.id)
          requireMatch(tags, before && recordTag(before))
          await saveUserDeletion(inside, user)
          await leave(inside, user, endAccess, 'its holder was deleted')
          return undefined
        }),
      )
    },
  })

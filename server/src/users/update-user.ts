import { keepRefusal } from '../events/keep-refusal.ts'
import { readIfMatch, recordTag, requireMatch } from '../http/if-match.ts'
import { operation } from '../http/operation.ts'
import { IdParams } from '../http/schema.ts'
import { changeIn, SentBack } from '../http/sent-back.ts'
import { notFound } from '../kernel/errors.ts'
import { requireManager } from './fact-store.ts'
import { type EndAccess, requireMayChange, UserChange } from './lifecycle.ts'
import { leave, lockUser, saveUserChange } from './lifecycle-store.ts'
import { User } from './user.ts'
import { findUser } from './user-store.ts'

/**
 * Changes a user. Nobody states their own facts. A deactivation needs every scope that the user holds, and invalidates the user's tokens and keys at once. The
 * same transaction cancels their requests and revokes their grants. A change without effect writes nothing and emits no event.
 */
export const updateUser = (endAccess: EndAccess) =>
  operation({
    method: 'PATCH',
    path: '/v1/users/{id}',
    summary: 'Update, deactivate or reactivate a user',
    credential: 'any',
    scope: 'users:write',
    params: IdParams,
    body: SentBack(UserChange, User),
    replies: { 200: User },
    errors: ['not_found', 'last_owner', 'unprocessable'],
    changes: 'authority',
    etag: recordTag,
    takesIfMatch: true,
    run(ctx, { params, body, header }) {
      const tags = readIfMatch(header('if-match'))
      return keepRefusal(ctx, { subject_type: 'user', subject_id: params.id }, () =>
        ctx.tx.interactive(async (tx) => {
          const inside = { ...ctx, tx }
          const user = await lockUser(tx, params.id)
          if (user === undefined) throw notFound('user')
          const before = await findUser(tx, user.id)
          if (before === undefined) throw notFound('user')
          const change = changeIn(UserChange, body, before, { roles: 'PUT /v1/users/{id}/roles' })
          const effective = requireMayChange(user, change, ctx)
          requireMatch(tags, recordTag(before))
          await requireManager(tx, effective.fields)
          const { events } = effective
          if (events.length > 0) await saveUserChange(inside, user, effective)
          if (events.includes('user.deactivated')) await leave(inside, user, endAccess, 'its holder was deactivated')
          const changed = await findUser(tx, user.id)
          if (changed === undefined) throw notFound('user')
          return changed
        }),
      )
    },
  })

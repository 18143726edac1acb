import { keepRefusal } from '../../events/keep-refusal.ts'
import { operation } from '../../http/operation.ts'
import { notFound } from '../../kernel/errors.ts'
import { type EndAccess, requireMayTakeFrom } from '../../users/lifecycle.ts'
import { lockUser } from '../../users/lifecycle-store.ts'
import { adoptUser } from '../users/adopt-user.flow.ts'
import { takeBack } from '../users/take-back.flow.ts'
import { userContentOf } from '../users/user-content.ts'
import { ConflictParams, maySettle, noSuchPerson, Settled, Settlement } from './conflict.ts'
import { lockConflict, saveSettlement } from './conflict-list-store.ts'

/**
 * Decides who a user of a directory is here: a user, whom the directory manages from then on, or nobody. Who controls the directory then
 * controls the user, so the caller needs every scope that the user holds.
 */
export const settleConflict = (endAccess: EndAccess) =>
  operation({
    method: 'POST',
    path: '/v1/identity-providers/{id}/conflicts/{conflict_id}/settle',
    summary: 'Decide who a user of a directory is here',
    credential: 'any',
    scope: 'users:write',
    freshSignIn: true,
    params: ConflictParams,
    body: Settlement,
    replies: { 200: Settled },
    errors: ['not_found', 'unprocessable', 'user_exists', 'version_conflict', 'last_owner'],
    changes: 'authority',
    run(ctx, { params, body }) {
      const user_id = body.user_id?.toLowerCase() ?? null
      return keepRefusal(ctx, { subject_type: 'identity_provider', subject_id: params.id }, () =>
        ctx.tx.interactive(async (tx) => {
          const inside = { ...ctx, tx, identity_provider_id: params.id, author: ctx.actor.user_id }
          const conflict = await lockConflict(tx, params.id, params.conflict_id)
          if (conflict === undefined) throw notFound('conflict')
          if (user_id !== null) {
            const user = await lockUser(tx, user_id)
            if (user === undefined || !maySettle(user, params.id)) throw noSuchPerson()
            requireMayTakeFrom(user, ctx.actor)
            const give = user.identity_provider_id === null ? adoptUser : takeBack
            await give(inside, { endAccess }, user_id, userContentOf(conflict.resource))
          }
          await saveSettlement(inside, params.id, { id: conflict.id, user_id })
          return { user_id }
        }),
      )
    },
  })

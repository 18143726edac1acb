import { keepRefusal } from '../../events/keep-refusal.ts'
import { operation } from '../../http/operation.ts'
import type { DirectoryCtx } from '../../http/scim-operation.ts'
import type { Ctx } from '../../kernel/context.ts'
import { invalidInput, notFound } from '../../kernel/errors.ts'
import { requireMayGive } from '../../roles/role.ts'
import { type EndAccess, requireMayTakeFrom } from '../../users/lifecycle.ts'
import { leave, lockUser, saveUserDeletion } from '../../users/lifecycle-store.ts'
import { personOf } from '../person.ts'
import { adoptUser } from '../users/adopt-user.flow.ts'
import type { ChangeParts } from '../users/change-user.flow.ts'
import { managerLocks } from '../users/reporting-line-store.ts'
import { takeBack } from '../users/take-back.flow.ts'
import { userContentOf } from '../users/user-content.ts'
import { ConflictParams, maySettle, noSuchPerson, notFormer, Settled, Settlement, switchedOff } from './conflict.ts'
import { findConflict, lockConflict, saveSettlement, shareProvider } from './conflict-list-store.ts'

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
      if (user_id !== null && body.delete_user === true)
        throw invalidInput([{ pointer: '/delete_user', why: 'must be left out where `user_id` says who they are' }])
      return keepRefusal(ctx, { subject_type: 'identity_provider', subject_id: params.id }, () =>
        ctx.tx.interactive(async (tx) => {
          const inside = { ...ctx, tx, identity_provider_id: params.id, author: ctx.actor.user_id }
          if (user_id !== null) await give(inside, { endAccess }, { ...params, user_id })
          else if (body.delete_user === true) await deleteFormer(inside, { endAccess }, params)
          else if ((await lockConflict(tx, params.id, params.conflict_id)) === undefined) throw notFound('conflict')
          await saveSettlement(inside, params.id, { id: params.conflict_id, user_id })
          return { user_id }
        }),
      )
    },
  })

/** Deletes the user who left, and whose address somebody else has now. Locks in the order of `give`. */
async function deleteFormer(
  inside: Ctx & DirectoryCtx,
  { endAccess }: ChangeParts,
  { id, conflict_id }: { id: string; conflict_id: string },
): Promise<void> {
  const { tx, actor } = inside
  await shareProvider(tx, id)
  const seen = await findConflict(tx, id, conflict_id)
  if (seen === undefined) throw notFound('conflict')
  const user = await lockUser(tx, seen.user_id)
  if (user === undefined || (await lockConflict(tx, id, conflict_id)) === undefined) throw notFound('conflict')
  if (user.identity_provider_id !== id || user.active) throw notFormer()
  requireMayTakeFrom(user, actor)
  await saveUserDeletion(inside, user)
  await leave(inside, user, endAccess, 'its holder was deleted')
}

/**
 * Gives the user to the directory, or lets one of its own come back. Locks in the order in which pushes and a deletion of the provider do:
 * the provider, the names, the user, the conflict.
 */
async function give(
  inside: Ctx & DirectoryCtx,
  parts: ChangeParts,
  { id, conflict_id, user_id }: { id: string; conflict_id: string; user_id: string },
): Promise<void> {
  const { tx, actor } = inside
  const isEnabled = await shareProvider(tx, id)
  const seen = await findConflict(tx, id, conflict_id)
  if (seen === undefined) throw notFound('conflict')
  if (isEnabled !== true) throw switchedOff()
  const { external_id, manager_key } = personOf(seen.resource)
  await tx.write([managerLocks(inside, { named: external_id, names: manager_key })])
  const user = await lockUser(tx, user_id)
  const conflict = await lockConflict(tx, id, conflict_id)
  if (conflict === undefined) throw notFound('conflict')
  if (user === undefined || !maySettle(user, id)) throw noSuchPerson()
  const content = userContentOf(conflict.resource)
  if (user.identity_provider_id === null) {
    requireMayTakeFrom(user, actor)
    return void (await adoptUser(inside, parts, user_id, content))
  }
  // Their scopes come back.
  requireMayGive(actor.scopes, user.scopes)
  await takeBack(inside, parts, user_id, content)
}

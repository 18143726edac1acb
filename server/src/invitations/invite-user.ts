import { keepRefusal } from '../events/keep-refusal.ts'
import { operation } from '../http/operation.ts'
import { IdParams } from '../http/schema.ts'
import { notFound } from '../kernel/errors.ts'
import { MadeInvitation, requireMayInvite } from './invitation.ts'
import { lockInvitable } from './invitation-store.ts'
import { invite } from './invite.flow.ts'

/**
 * Makes a new link for a user as whom nobody could ever sign in; the link before it ends. Who has the link is that user, so the caller
 * needs every scope that the user holds.
 */
export const inviteUser = operation({
  method: 'POST',
  path: '/v1/users/{id}/invitations',
  summary: 'Invite a user who has not joined yet, by a new link',
  credential: 'any',
  scope: 'users:write',
  keyOfSession: true,
  freshSignIn: true,
  params: IdParams,
  replies: { 201: MadeInvitation },
  errors: ['not_found', 'already_joined', 'unprocessable'],
  run(ctx, { params }) {
    return keepRefusal(ctx, { subject_type: 'user', subject_id: params.id }, () =>
      ctx.tx.interactive(async (tx) => {
        const user = await lockInvitable(tx, params.id)
        if (user === undefined) throw notFound('user')
        requireMayInvite(user, ctx.actor.scopes)
        return invite({ ...ctx, tx }, { user_id: user.id, vouched_scopes: user.scopes })
      }),
    )
  },
})

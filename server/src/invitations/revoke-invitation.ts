import { Type } from 'typebox'
import { operation } from '../http/operation.ts'
import { Uuid } from '../http/schema.ts'
import { notFound } from '../kernel/errors.ts'
import { usedAlready } from './invitation.ts'
import { revokeLiveInvitation } from './invitation-store.ts'

/** Ends the link of an invitation at once, also the mailed one. The user stays: delete them, or invite them again. */
export const revokeInvitation = operation({
  method: 'DELETE',
  path: '/v1/users/{id}/invitations/{invitation_id}',
  summary: 'Revoke an invitation that was not used yet',
  credential: 'any',
  scope: 'users:write',
  params: Type.Object({ id: Uuid, invitation_id: Uuid }),
  replies: { 204: null },
  errors: ['not_found', 'already_joined'],
  async run(ctx, { params: { id, invitation_id } }): Promise<undefined> {
    const state = await revokeLiveInvitation(ctx, { user_id: id, invitation_id })
    if (state === 'used') throw usedAlready()
    // What has ended otherwise is no invitation any more, and cannot be revoked.
    if (state !== 'pending') throw notFound('invitation')
    return undefined
  },
})

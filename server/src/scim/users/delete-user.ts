import { scimOperation } from '../../http/scim-operation.ts'
import { requireId } from '../resource-id.ts'
import { type ChangeParts, removeUser } from './change-user.flow.ts'

/** Deletes a user of the directory: their access ends, and their address is free again. */
export const deleteUser = (parts: ChangeParts) =>
  scimOperation({
    method: 'DELETE',
    path: '/Users/{user_id}',
    changes: 'authority',
    async run(ctx, { params, header }) {
      await removeUser(ctx, parts, { id: requireId('User', params.user_id), ifMatch: header('if-match') })
      return { status: 204 }
    },
  })

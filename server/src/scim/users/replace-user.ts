import { scimOperation } from '../../http/scim-operation.ts'
import { userKind } from '../attribute.ts'
import { readResource } from '../read-resource.ts'
import { requireId } from '../resource-id.ts'
import { readSelection } from '../shown-resource.ts'
import { type ChangeParts, changeUser } from './change-user.flow.ts'
import { userAnswer } from './shown-user.ts'

/** Replaces what the directory says of a user: what is left out is not known any more. `active` stays as it is where it is left out. */
export const replaceUser = (parts: ChangeParts) =>
  scimOperation({
    method: 'PUT',
    path: '/Users/{user_id}',
    changes: 'authority',
    async run(ctx, { params, query, body, header }) {
      const selection = readSelection(userKind, query)
      const sent = readResource(userKind, body)
      const user = await changeUser(ctx, parts, {
        id: requireId('User', params.user_id),
        ifMatch: header('if-match'),
        of: ({ active }) => ({ ...(active !== undefined && { active }), ...sent }),
      })
      return userAnswer(ctx, 200, user, selection)
    },
  })

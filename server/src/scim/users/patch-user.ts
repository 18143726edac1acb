import { scimOperation } from '../../http/scim-operation.ts'
import { userKind } from '../attribute.ts'
import { patched, readPatch } from '../patch.ts'
import { requireId } from '../resource-id.ts'
import { readSelection } from '../shown-resource.ts'
import { type ChangeParts, changeUser } from './change-user.flow.ts'
import { userAnswer } from './shown-user.ts'

/** Changes parts of what the directory says of a user. */
export const patchUser = (parts: ChangeParts) =>
  scimOperation({
    method: 'PATCH',
    path: '/Users/{user_id}',
    changes: 'authority',
    async run(ctx, { params, query, body, header }) {
      const selection = readSelection(userKind, query)
      const operations = readPatch(userKind, body)
      const user = await changeUser(ctx, parts, {
        id: requireId('User', params.user_id),
        ifMatch: header('if-match'),
        of: (before) => patched(userKind, before, operations),
      })
      return userAnswer(ctx, 200, user, selection)
    },
  })

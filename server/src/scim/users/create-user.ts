import { scimOperation } from '../../http/scim-operation.ts'
import { userKind } from '../attribute.ts'
import { readResource } from '../read-resource.ts'
import { readSelection } from '../shown-resource.ts'
import type { ChangeParts } from './change-user.flow.ts'
import { insertUser } from './insert-user.flow.ts'
import { userAnswer } from './shown-user.ts'
import { userContentOf } from './user-content.ts'

/** Makes a user whom the directory manages. A user who has the address already becomes that user only where the operator vouched for it. */
export const createUser = (parts: ChangeParts) =>
  scimOperation({
    method: 'POST',
    path: '/Users',
    changes: 'authority',
    async run(ctx, { body, query }) {
      const selection = readSelection(userKind, query)
      const resource = readResource(userKind, body)
      return userAnswer(ctx, 201, await insertUser(ctx, parts, userContentOf(resource)), selection)
    },
  })

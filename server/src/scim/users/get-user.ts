import { scimOperation } from '../../http/scim-operation.ts'
import { noResource } from '../../http/scim-problem.ts'
import { userKind } from '../attribute.ts'
import { requireId } from '../resource-id.ts'
import { readSelection } from '../shown-resource.ts'
import { unchanged } from '../version.ts'
import { findDirectoryUser } from './directory-user-store.ts'
import { userAnswer } from './shown-user.ts'

/** Returns a user of the directory. */
export const getUser = scimOperation({
  method: 'GET',
  path: '/Users/{user_id}',
  async run(ctx, { params, query, header }) {
    const selection = readSelection(userKind, query)
    const user = await findDirectoryUser(ctx, requireId('User', params.user_id))
    if (user === undefined) throw noResource('User')
    return unchanged(header('if-none-match'), user.version) ?? userAnswer(ctx, 200, user, selection)
  },
})

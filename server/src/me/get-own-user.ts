import { recordTag } from '../http/if-match.ts'
import { operation } from '../http/operation.ts'
import { userGone } from '../users/profile.ts'
import { OwnUser, ownUserOf } from './own-user.ts'
import { findOwnUser } from './own-user-store.ts'

export const getOwnUser = operation({
  method: 'GET',
  path: '/v1/users/me',
  summary: 'Get yourself, with your tenant and your rights',
  credential: 'user',
  scope: null,
  replies: { 200: OwnUser },
  errors: [],
  etag: recordTag,
  async run({ tx, actor, session }) {
    if (session === null) throw new Error('a person has no session, though every token and cookie belongs to one')
    const found = await findOwnUser(tx, actor.user_id)
    if (found === undefined) throw userGone()
    return ownUserOf(found, { scopes: actor.scopes, session })
  },
})

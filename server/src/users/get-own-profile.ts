import { recordTag } from '../http/if-match.ts'
import { operation } from '../http/operation.ts'
import { OwnProfile, userGone } from './profile.ts'
import { findOwnProfile } from './profile-store.ts'

export const getOwnProfile = operation({
  method: 'GET',
  path: '/v1/users/me/profile',
  summary: 'Get your own profile',
  credential: 'user',
  scope: null,
  replies: { 200: OwnProfile },
  errors: [],
  etag: recordTag,
  async run(ctx) {
    const profile = await findOwnProfile(ctx.tx, ctx.actor.user_id)
    if (profile === undefined) throw userGone()
    return profile
  },
})

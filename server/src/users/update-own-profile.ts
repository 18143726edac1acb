import { operation } from '../http/operation.ts'
import { OwnProfile, ProfileInput, readProfileChange, userGone } from './profile.ts'
import { findOwnProfile, saveOwnProfile } from './profile-store.ts'

/** Changes the user's own profile. A change without effect writes nothing and emits no event. */
export const updateOwnProfile = operation({
  method: 'PUT',
  path: '/v1/users/me/profile',
  summary: 'Update your own profile',
  credential: 'user',
  scope: null,
  body: ProfileInput,
  replies: { 200: OwnProfile },
  errors: [],
  async run(ctx, { body }) {
    const before = await findOwnProfile(ctx.tx, ctx.actor.user_id)
    if (before === undefined) throw userGone()
    const change = readProfileChange(before.auth_provider, body)
    return (await saveOwnProfile(ctx, before.id, change)) ?? before
  },
})

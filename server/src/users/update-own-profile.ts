import { readIfMatch, recordTag, requireMatch } from '../http/if-match.ts'
import { operation } from '../http/operation.ts'
import { changeIn, SentBack } from '../http/sent-back.ts'
import { avatarBody } from './avatar.ts'
import { OwnProfile, ProfileInput, readProfileChange, userGone } from './profile.ts'
import { findOwnProfile, lockOwnUser, saveOwnProfile } from './profile-store.ts'

/** Changes the user's own profile. A change without effect writes nothing and emits no event. */
export const updateOwnProfile = operation({
  method: 'PUT',
  path: '/v1/users/me/profile',
  summary: 'Update your own profile',
  credential: 'user',
  scope: null,
  body: SentBack(ProfileInput, OwnProfile),
  replies: { 200: OwnProfile },
  errors: [],
  ...avatarBody,
  etag: recordTag,
  takesIfMatch: true,
  run(ctx, { body, header }) {
    const tags = readIfMatch(header('if-match'))
    return ctx.tx.interactive(async (tx) => {
      const managed = await lockOwnUser(tx, ctx.actor.user_id)
      const before = await findOwnProfile(tx, ctx.actor.user_id)
      if (before === undefined) throw userGone()
      const change = readProfileChange({ ...before, ...managed }, changeIn(ProfileInput, body, before))
      requireMatch(tags, recordTag(before))
      return (await saveOwnProfile({ ...ctx, tx }, before.id, change)) ?? before
    })
  },
})

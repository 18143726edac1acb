import { recordTag } from '../http/if-match.ts'
import { operation } from '../http/operation.ts'
import { Preferences } from './preferences.ts'
import { userGone } from './profile.ts'
import { findPreferences } from './profile-store.ts'

export const getOwnPreferences = operation({
  method: 'GET',
  path: '/v1/users/me/preferences',
  summary: 'Get your own preferences',
  credential: 'user',
  scope: null,
  replies: { 200: Preferences },
  errors: [],
  etag: recordTag,
  async run(ctx) {
    const preferences = await findPreferences(ctx.tx, ctx.actor.user_id)
    if (preferences === undefined) throw userGone()
    return preferences
  },
})

import { readIfMatch, recordTag, requireMatch } from '../http/if-match.ts'
import { operation } from '../http/operation.ts'
import { Preferences, PreferencesInput, readPreferencesChange } from './preferences.ts'
import { userGone } from './profile.ts'
import { findPreferences, lockOwnUser, savePreferences } from './profile-store.ts'

/** Changes the user's own display preferences: null clears a field, an omitted field stays. */
export const updateOwnPreferences = operation({
  method: 'PATCH',
  path: '/v1/users/me/preferences',
  summary: 'Update your own preferences',
  credential: 'user',
  // Of no use to a thief, and confirming takes one of few connections.
  confirms: false,
  scope: null,
  body: PreferencesInput,
  replies: { 200: Preferences },
  errors: [],
  etag: recordTag,
  takesIfMatch: true,
  run(ctx, { body, header }) {
    const tags = readIfMatch(header('if-match'))
    const change = readPreferencesChange(body)
    const { user_id } = ctx.actor
    return ctx.tx.interactive(async (tx) => {
      await lockOwnUser(tx, user_id)
      const before = await findPreferences(tx, user_id)
      if (before === undefined) throw userGone()
      requireMatch(tags, recordTag(before))
      return (await savePreferences(tx, user_id, change)) ?? before
    })
  },
})

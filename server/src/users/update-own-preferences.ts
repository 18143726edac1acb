import { operation } from '../http/operation.ts'
import { Preferences, PreferencesInput, readPreferencesChange } from './preferences.ts'
import { userGone } from './profile.ts'
import { findPreferences, savePreferences } from './profile-store.ts'

/** Changes the user's own display preferences: null clears a field, an omitted field stays. */
export const updateOwnPreferences = operation({
  method: 'PATCH',
  path: '/v1/users/me/preferences',
  summary: 'Update your own preferences',
  credential: 'user',
  scope: null,
  body: PreferencesInput,
  replies: { 200: Preferences },
  errors: [],
  async run(ctx, { body }) {
    const change = readPreferencesChange(body)
    const { user_id } = ctx.actor
    const saved = (await savePreferences(ctx.tx, user_id, change)) ?? (await findPreferences(ctx.tx, user_id))
    if (saved === undefined) throw userGone()
    return saved
  },
})

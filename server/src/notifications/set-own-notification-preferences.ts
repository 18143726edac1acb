import { readIfMatch, recordTag, requireMatch } from '../http/if-match.ts'
import { operation } from '../http/operation.ts'
import { changeIn, SentBack } from '../http/sent-back.ts'
import { userGone } from '../users/profile.ts'
import { lockOwnUser } from '../users/profile-store.ts'
import { findMailedUser, saveMailChoices } from './notification-preference-store.ts'
import {
  choicesIn,
  NotificationPreferences,
  NotificationPreferencesInput,
  preferencesOf,
} from './notification-preferences.ts'

/** Every notification stays in the user's list and stream: the choice is of what is mailed besides. */
export const setOwnNotificationPreferences = operation({
  method: 'PUT',
  path: '/v1/users/me/notification-preferences',
  summary: 'Set which notifications are mailed to you',
  credential: 'user',
  scope: null,
  body: SentBack(NotificationPreferencesInput, NotificationPreferences),
  replies: { 200: NotificationPreferences },
  errors: [],
  etag: recordTag,
  takesIfMatch: true,
  run(ctx, { body, header }) {
    const tags = readIfMatch(header('if-match'))
    const { user_id } = ctx.actor
    return ctx.tx.interactive(async (tx) => {
      await lockOwnUser(tx, user_id)
      const before = await findMailedUser(tx, user_id)
      if (before === undefined || user_id === null) throw userGone()
      const shown = preferencesOf(before, ctx.sends_mail)
      const change = changeIn(NotificationPreferencesInput, body, shown)
      requireMatch(tags, recordTag(shown))
      const saved = await saveMailChoices({ ...ctx, tx }, user_id, choicesIn(change))
      return saved === undefined ? shown : preferencesOf(saved, ctx.sends_mail)
    })
  },
})

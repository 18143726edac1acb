import { recordTag } from '../http/if-match.ts'
import { operation } from '../http/operation.ts'
import { userGone } from '../users/profile.ts'
import { findMailedUser } from './notification-preference-store.ts'
import { NotificationPreferences, preferencesOf } from './notification-preferences.ts'

export const getOwnNotificationPreferences = operation({
  method: 'GET',
  path: '/v1/users/me/notification-preferences',
  summary: 'Get which notifications are mailed to you',
  credential: 'user',
  scope: null,
  replies: { 200: NotificationPreferences },
  errors: [],
  etag: recordTag,
  async run({ tx, actor, sends_mail }) {
    const user = await findMailedUser(tx, actor.user_id)
    if (user === undefined) throw userGone()
    return preferencesOf(user, sends_mail)
  },
})

import { operation } from '../http/operation.ts'
import { IdParams } from '../http/schema.ts'
import { notFound } from '../kernel/errors.ts'
import { changeChannel, EmailChannelChange, NotificationChannel } from './notification-channel.ts'
import { lockChannel, saveChannel } from './notification-channel-store.ts'

/** Changes the fields sent. What would change nothing changes nothing, tells nothing, and answers the channel as it is. */
export const updateNotificationChannel = operation({
  method: 'PATCH',
  path: '/v1/notification-channels/{id}',
  summary: 'Update a notification channel',
  credential: 'any',
  scope: 'notification_channels:write',
  params: IdParams,
  body: EmailChannelChange,
  replies: { 200: NotificationChannel },
  errors: ['not_found'],
  run: (ctx, { params, body }) =>
    ctx.tx.interactive(async (tx) => {
      const before = await lockChannel(tx, params.id)
      if (before === undefined) throw notFound('notification channel')
      return saveChannel({ ...ctx, tx }, before, changeChannel(before, body))
    }),
})

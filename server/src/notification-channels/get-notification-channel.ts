import { operation } from '../http/operation.ts'
import { IdParams } from '../http/schema.ts'
import { notFound } from '../kernel/errors.ts'
import { channelTag, NotificationChannel } from './notification-channel.ts'
import { findChannel } from './notification-channel-store.ts'

export const getNotificationChannel = operation({
  method: 'GET',
  path: '/v1/notification-channels/{id}',
  summary: 'Get notification channel',
  credential: 'any',
  scope: 'notification_channels:read',
  params: IdParams,
  replies: { 200: NotificationChannel },
  errors: ['not_found'],
  etag: channelTag,
  async run(ctx, { params }) {
    const channel = await findChannel(ctx.tx, params.id)
    if (channel === undefined) throw notFound('notification channel')
    return channel
  },
})

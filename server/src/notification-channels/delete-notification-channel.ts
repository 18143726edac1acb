import { operation } from '../http/operation.ts'
import { IdParams } from '../http/schema.ts'
import { notFound } from '../kernel/errors.ts'
import { deleteChannelById } from './notification-channel-store.ts'

export const deleteNotificationChannel = operation({
  method: 'DELETE',
  path: '/v1/notification-channels/{id}',
  summary: 'Delete a notification channel',
  credential: 'any',
  scope: 'notification_channels:write',
  params: IdParams,
  replies: { 204: null },
  errors: ['not_found'],
  async run(ctx, { params }): Promise<undefined> {
    if (!(await deleteChannelById(ctx, params.id))) throw notFound('notification channel')
  },
})

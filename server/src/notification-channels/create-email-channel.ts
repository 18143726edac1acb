import { operation } from '../http/operation.ts'
import { NewEmailChannel, NotificationChannel, readNewChannel } from './notification-channel.ts'
import { insertEmailChannel } from './notification-channel-store.ts'

/** Creates a channel that takes events to mailboxes. */
export const createEmailChannel = operation({
  method: 'POST',
  path: '/v1/notification-channels/email',
  summary: 'Create email notification channel',
  credential: 'any',
  scope: 'notification_channels:write',
  body: NewEmailChannel,
  replies: { 201: NotificationChannel },
  errors: [],
  run: (ctx, { body }) => insertEmailChannel(ctx, readNewChannel(body)),
})

import { operation } from '../http/operation.ts'
import { newId } from '../kernel/id.ts'
import { type EmailChannel, NewEmailChannel, readNewEmail, SavedEmailChannel } from './email-channel.ts'
import { channelTag } from './notification-channel.ts'
import { insertChannel } from './notification-channel-store.ts'
import { withSenderWarning } from './sender-warning.flow.ts'

/** Creates a channel that sends events to mailboxes. */
export const createEmailChannel = operation({
  method: 'POST',
  path: '/v1/notification-channels/email',
  summary: 'Create email notification channel',
  credential: 'any',
  scope: 'notification_channels:write',
  body: NewEmailChannel,
  replies: { 201: SavedEmailChannel },
  location: ({ id }) => `/v1/notification-channels/${id}`,
  errors: ['unprocessable'],
  etag: channelTag,
  async run(ctx, { body }) {
    const content = readNewEmail(body)
    const channel = { id: newId(), channel_type: 'email', sealed_secrets: null, ...content } as const
    return withSenderWarning(ctx, await insertChannel<EmailChannel>(ctx, channel))
  },
})

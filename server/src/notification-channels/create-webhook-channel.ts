import { makeSigningSecret } from '../egress/standard-webhooks.ts'
import { operation } from '../http/operation.ts'
import { newId } from '../kernel/id.ts'
import { channelTag } from './notification-channel.ts'
import { insertChannel } from './notification-channel-store.ts'
import {
  NewWebhookChannel,
  readNewWebhook,
  requireReceiver,
  type WebhookChannel,
  WebhookChannelWithSecret,
} from './webhook-channel.ts'
import { sealSecrets } from './webhook-secrets.ts'

/** Creates a channel that sends events to a receiver, in messages signed with a secret that is shown only once. */
export const createWebhookChannel = operation({
  method: 'POST',
  path: '/v1/notification-channels/webhook',
  summary: 'Create webhook notification channel',
  credential: 'any',
  scope: 'notification_channels:write',
  keyOfSession: true,
  body: NewWebhookChannel,
  replies: { 201: WebhookChannelWithSecret },
  location: ({ id }) => `/v1/notification-channels/${id}`,
  errors: ['unprocessable'],
  etag: channelTag,
  async run(ctx, { body }) {
    const content = readNewWebhook(body)
    await requireReceiver(body, ctx.egress)
    const [id, secret] = [newId(), makeSigningSecret()]
    const sealed_secrets = await sealSecrets(ctx, id, { secret, previous: null, headers: body.headers ?? {} })
    const channel = { id, channel_type: 'webhook', sealed_secrets, ...content } as const
    return { ...(await insertChannel<WebhookChannel>(ctx, channel)), secret }
  },
})

import { readIfMatch, requireMatch } from '../http/if-match.ts'
import { operation } from '../http/operation.ts'
import { IdParams } from '../http/schema.ts'
import { changeIn, SentBack } from '../http/sent-back.ts'
import type { Ctx } from '../kernel/context.ts'
import { notFound } from '../kernel/errors.ts'
import { changeEmail } from './email-channel.ts'
import {
  AnyChannel,
  ChannelChange,
  channelTag,
  requireOwnFields,
  SavedNotificationChannel,
} from './notification-channel.ts'
import { lockChannel, saveChannel } from './notification-channel-store.ts'
import { withSenderWarning } from './sender-warning.flow.ts'
import { changeWebhook, requireReceiver, type WebhookChannel } from './webhook-channel.ts'
import { openSecrets, sealSecrets } from './webhook-secrets.ts'

/** Changes the fields sent. A request that changes nothing emits no event, and answers the channel as it is. */
export const updateNotificationChannel = operation({
  method: 'PATCH',
  path: '/v1/notification-channels/{id}',
  summary: 'Update a notification channel',
  credential: 'any',
  scope: 'notification_channels:write',
  keyOfSession: true,
  params: IdParams,
  body: SentBack(ChannelChange, AnyChannel),
  replies: { 200: SavedNotificationChannel },
  errors: ['not_found', 'unprocessable'],
  etag: channelTag,
  takesIfMatch: true,
  async run(ctx, { params, body, header }) {
    const tags = readIfMatch(header('if-match'))
    // This may use the network, so it runs before the row is locked.
    await requireReceiver(body, ctx.egress)
    return ctx.tx.interactive(async (tx) => {
      const kept = await lockChannel(tx, params.id)
      if (kept === undefined) throw notFound('notification channel')
      const { shown, sealed_secrets } = kept
      const inside = { ...ctx, tx }
      requireMatch(tags, channelTag(shown))
      const change = changeIn(ChannelChange, body, shown)
      requireOwnFields(shown.channel_type, change)
      if (shown.channel_type === 'email') {
        return withSenderWarning(inside, await saveChannel(inside, shown, changeEmail(shown, change)))
      }
      const content = changeWebhook(shown, change)
      return saveChannel(inside, shown, content, await sealHeaders(inside, shown, sealed_secrets, change.headers))
    })
  },
})

/** The secrets with the new headers; undefined when the request has no `headers`, or when there were none and will be none. */
async function sealHeaders(
  ctx: Ctx,
  { id, config }: WebhookChannel,
  sealed: string | null,
  headers: ChannelChange['headers'],
): Promise<string | undefined> {
  if (sealed === null) throw new Error('a webhook channel has no secrets')
  if (headers === undefined) return undefined
  const next = headers ?? {}
  if (Object.keys(next).length === 0 && config.headers === undefined) return undefined
  return sealSecrets(ctx, id, { ...(await openSecrets(ctx, id, sealed)), headers: next })
}

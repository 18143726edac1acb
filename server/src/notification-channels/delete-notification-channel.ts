import { readIfMatch, requireMatch } from '../http/if-match.ts'
import { operation } from '../http/operation.ts'
import { IdParams } from '../http/schema.ts'
import { notFound } from '../kernel/errors.ts'
import { channelTag } from './notification-channel.ts'
import { deleteLockedChannel, lockChannel } from './notification-channel-store.ts'

export const deleteNotificationChannel = operation({
  method: 'DELETE',
  path: '/v1/notification-channels/{id}',
  summary: 'Delete a notification channel',
  credential: 'any',
  scope: 'notification_channels:write',
  params: IdParams,
  replies: { 204: null },
  errors: ['not_found'],
  takesIfMatch: true,
  run(ctx, { params, header }): Promise<undefined> {
    const tags = readIfMatch(header('if-match'))
    return ctx.tx.interactive(async (tx) => {
      const kept = await lockChannel(tx, params.id)
      if (kept === undefined) throw notFound('notification channel')
      requireMatch(tags, channelTag(kept.shown))
      await deleteLockedChannel({ ...ctx, tx }, params.id)
      return undefined
    })
  },
})

import { Type } from 'typebox'
import { operation } from '../../http/operation.ts'
import { IdParams } from '../../http/schema.ts'
import { notFound, Problem } from '../../kernel/errors.ts'
import { lockChannel } from '../notification-channel-store.ts'
import { DeliveryRecord, requireEnabled } from './delivery.ts'
import { insertTest } from './delivery-store.ts'
import { wakeQueues } from './fan-out-store.ts'

/** Sends a trial message to every recipient, whatever the channel's filters name; one at a time. What waits is tried now. */
export const testNotificationChannel = operation({
  method: 'POST',
  path: '/v1/notification-channels/{id}/test',
  summary: 'Send a trial message through a notification channel',
  credential: 'any',
  scope: 'notification_channels:write',
  params: IdParams,
  replies: { 202: Type.Object({ deliveries: Type.Array(DeliveryRecord) }) },
  errors: ['not_found', 'delivery_pending', 'channel_disabled'],
  async run(ctx, { params }) {
    // Whoever tries a channel has mended the way perhaps, and would wait up to half an hour to see it.
    await wakeQueues(ctx.tx, [params.id])
    return ctx.tx.interactive(async (tx) => {
      const channel = (await lockChannel(tx, params.id))?.shown
      if (channel === undefined) throw notFound('notification channel')
      requireEnabled(channel)
      const deliveries = await insertTest({ ...ctx, tx }, params.id)
      if (deliveries.length > 0) return { deliveries }
      throw new Problem('delivery_pending', 'a trial message is under way; its deliveries say how it goes')
    })
  },
})

import { Type } from 'typebox'
import { operation } from '../../http/operation.ts'
import { IdParams } from '../../http/schema.ts'
import { notFound, Problem } from '../../kernel/errors.ts'
import { lockChannel } from '../notification-channel-store.ts'
import { DeliveryRecord, requireEnabled } from './delivery.ts'
import { insertTest } from './delivery-store.ts'
import { wakeQueues } from './fan-out-store.ts'

/** Sends a test message to every recipient, regardless of the channel's filters; one test at a time. Waiting deliveries are retried now. */
export const testNotificationChannel = operation({
  method: 'POST',
  path: '/v1/notification-channels/{id}/test',
  summary: 'Send a test message through a notification channel',
  credential: 'any',
  scope: 'notification_channels:write',
  params: IdParams,
  replies: { 202: Type.Object({ deliveries: Type.Array(DeliveryRecord) }) },
  errors: ['not_found', 'delivery_pending', 'channel_disabled'],
  async run(ctx, { params }) {
    // A user who tests a channel may have fixed its receiver, and would otherwise wait up to half an hour for the retry.
    await wakeQueues(ctx.tx, [params.id])
    return ctx.tx.interactive(async (tx) => {
      const channel = (await lockChannel(tx, params.id))?.shown
      if (channel === undefined) throw notFound('notification channel')
      requireEnabled(channel)
      const deliveries = await insertTest({ ...ctx, tx }, params.id)
      if (deliveries.length > 0) return { deliveries }
      throw new Problem('delivery_pending', 'a test message is being delivered; see its deliveries for the result')
    })
  },
})

import { Type } from 'typebox'
import { operation } from '../../http/operation.ts'
import { Uuid } from '../../http/schema.ts'
import type { Tx } from '../../kernel/context.ts'
import { notFound, Problem } from '../../kernel/errors.ts'
import { findChannel } from '../notification-channel-store.ts'
import { DeliveryRecord, requireEnabled } from './delivery.ts'
import { findDelivery, resend } from './delivery-store.ts'

/** Sends a delivered or failed delivery again: a webhook under the same id, a mail as a new one. */
export const resendDelivery = operation({
  method: 'POST',
  path: '/v1/notification-channels/{id}/deliveries/{delivery_id}/resend',
  summary: 'Send a delivery again',
  credential: 'any',
  scope: 'notification_channels:write',
  params: Type.Object({ id: Uuid, delivery_id: Uuid }),
  replies: { 202: DeliveryRecord },
  errors: ['not_found', 'delivery_pending', 'channel_disabled', 'unprocessable'],
  async run(ctx, { params: { id, delivery_id } }) {
    return (await resend(ctx, id, delivery_id)) ?? (await explain(ctx.tx, id, delivery_id))
  },
})

async function explain(tx: Tx, id: string, delivery_id: string): Promise<never> {
  const [channel, delivery] = await Promise.all([findChannel(tx, id), findDelivery(tx, id, delivery_id)])
  if (channel === undefined) throw notFound('notification channel')
  if (delivery === undefined) throw notFound('delivery')
  requireEnabled(channel)
  if (delivery.status === 'pending') {
    throw new Problem('delivery_pending', 'the delivery is still pending; send it again when it has ended')
  }
  throw new Problem(
    'unprocessable',
    'the channel no longer has the recipient of this delivery; add the recipient first',
  )
}

import { Type } from 'typebox'
import { operation } from '../../http/operation.ts'
import { IdParams, OneOf, PageOf, pageQuery } from '../../http/schema.ts'
import { notFound } from '../../kernel/errors.ts'
import { findChannel } from '../notification-channel-store.ts'
import { DeliveryRecord, deliveryStatuses } from './delivery.ts'
import { listDeliveriesPage } from './delivery-store.ts'

export const listDeliveries = operation({
  method: 'GET',
  path: '/v1/notification-channels/{id}/deliveries',
  summary: 'List the deliveries of a notification channel, newest events first',
  credential: 'any',
  scope: 'notification_channels:read',
  params: IdParams,
  query: Type.Object({ ...pageQuery, status: Type.Optional(OneOf(deliveryStatuses)) }, { additionalProperties: false }),
  replies: { 200: PageOf(DeliveryRecord) },
  errors: ['not_found'],
  async run(ctx, { params, query, page }) {
    const [channel, placed] = await Promise.all([
      findChannel(ctx.tx, params.id),
      listDeliveriesPage(ctx.tx, params.id, query.status, page),
    ])
    if (channel === undefined) throw notFound('notification channel')
    const { data, ...rest } = page.of(placed, ({ place }) => place)
    return { ...rest, data: data.map(({ delivery }) => delivery) }
  },
})

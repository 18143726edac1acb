import { Type } from 'typebox'
import { operation } from '../http/operation.ts'
import { PageOf, pageQuery } from '../http/schema.ts'
import { NotificationChannel } from './notification-channel.ts'
import { listChannelsPage } from './notification-channel-store.ts'

/** The tenant's channels in the order of their creation. */
export const listNotificationChannels = operation({
  method: 'GET',
  path: '/v1/notification-channels',
  summary: 'List notification channels',
  credential: 'any',
  scope: 'notification_channels:read',
  query: Type.Object(pageQuery, { additionalProperties: false }),
  replies: { 200: PageOf(NotificationChannel) },
  errors: [],
  run: async (ctx, { page }) => page.of(await listChannelsPage(ctx.tx, page), (channel) => [channel.id]),
})

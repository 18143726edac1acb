import { CappedListQuery } from '../http/list-query.ts'
import { operation } from '../http/operation.ts'
import { PageOf } from '../http/schema.ts'
import { NotificationChannel } from './notification-channel.ts'
import { listChannelsPage } from './notification-channel-store.ts'

/** The tenant's channels, in the order of their creation where `sort` is absent. */
export const listNotificationChannels = operation({
  method: 'GET',
  path: '/v1/notification-channels',
  summary: 'List notification channels',
  credential: 'any',
  scope: 'notification_channels:read',
  query: CappedListQuery,
  replies: { 200: PageOf(NotificationChannel) },
  errors: [],
  run: async (ctx, { query, page }) => page.reply(await listChannelsPage(ctx.tx, query, page)),
})

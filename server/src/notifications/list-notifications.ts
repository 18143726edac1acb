import { Type } from 'typebox'
import { operation } from '../http/operation.ts'
import { PageOf, pageQuery } from '../http/schema.ts'
import { Notification, notificationOf } from './notification.ts'
import { listNotificationsPage } from './notification-store.ts'

export const listNotifications = operation({
  method: 'GET',
  path: '/v1/users/me/notifications',
  summary: 'List your own notifications, newest first',
  credential: 'user',
  scope: null,
  query: Type.Object(
    {
      ...pageQuery,
      unread: Type.Optional(Type.Boolean({ description: 'true: only those not read yet; false: only those read' })),
    },
    { additionalProperties: false },
  ),
  replies: { 200: PageOf(Notification) },
  errors: [],
  async run(ctx, { query, page }) {
    if (ctx.actor.user_id === null) return page.reply({ rows: [], next: undefined })
    const { rows, next } = await listNotificationsPage(ctx.tx, ctx.actor.user_id, query.unread, page)
    return page.reply({ rows: rows.map(notificationOf), next })
  },
})

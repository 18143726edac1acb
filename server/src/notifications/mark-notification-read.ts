import { operation } from '../http/operation.ts'
import { IdParams } from '../http/schema.ts'
import { notFound } from '../kernel/errors.ts'
import { Notification, notificationOf } from './notification.ts'
import { readNotification } from './notification-store.ts'

/** A repeated call answers the same: the first call sets `read_at`. */
export const markNotificationRead = operation({
  method: 'POST',
  path: '/v1/users/me/notifications/{id}/read',
  summary: 'Mark one of your notifications as read',
  credential: 'user',
  // A page may send many of these, and none is of use to a thief.
  confirms: false,
  scope: null,
  params: IdParams,
  replies: { 200: Notification },
  errors: ['not_found'],
  async run(ctx, { params }) {
    const read = await readNotification(ctx.tx, ctx.actor.user_id, params.id)
    if (read === undefined) throw notFound('notification')
    return notificationOf(read)
  },
})

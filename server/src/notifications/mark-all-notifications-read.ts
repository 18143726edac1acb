import { Type } from 'typebox'
import { operation } from '../http/operation.ts'
import { readAllNotifications } from './notification-store.ts'

export const markAllNotificationsRead = operation({
  method: 'POST',
  path: '/v1/users/me/notifications/read-all',
  summary: 'Mark all of your notifications as read',
  credential: 'user',
  // A page may send many of these, and none is of use to a thief.
  confirms: false,
  scope: null,
  replies: { 200: Type.Object({ updated: Type.Integer({ description: 'how many were unread' }) }) },
  errors: [],
  run: async (ctx) => ({ updated: await readAllNotifications(ctx.tx, ctx.actor.user_id) }),
})

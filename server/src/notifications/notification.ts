import { type Static, Type } from 'typebox'
import { DateTime, Uuid } from '../http/schema.ts'

/** A notification of one user. `read_at` is absent until it is read; the resource is absent when it concerns none. */
export const Notification = Type.Object(
  {
    id: Uuid,
    event_type: Type.String(),
    title: Type.String({ description: 'plain text, never markup' }),
    body: Type.String({ description: 'plain text, never markup' }),
    resource_type: Type.Optional(
      Type.String({ description: 'access_request, access_grant, notification_channel, identity_provider or user' }),
    ),
    resource_id: Type.Optional(Uuid),
    read_at: Type.Optional(DateTime),
    created_at: DateTime,
  },
  { title: 'Notification' },
)
export type Notification = Static<typeof Notification>

/** A notification as stored in the table. */
export type NotificationRow = Omit<Notification, 'resource_type' | 'resource_id' | 'read_at'> & {
  resource_type: string | null
  resource_id: string | null
  read_at: string | null
}

/** Leaves out null fields. */
export function notificationOf(row: NotificationRow): Notification {
  const { resource_type, resource_id, read_at, ...rest } = row
  return {
    ...rest,
    ...(resource_type !== null && { resource_type }),
    ...(resource_id !== null && { resource_id }),
    ...(read_at !== null && { read_at }),
  }
}

import type { DeliveredEvent } from '../events/deliver.ts'
import { type Message, paragraphOf } from '../messages/message.ts'
import type { NotificationKind } from './notification-kind.ts'
import { type Audience, isMailed, type Rule } from './notification-rules.ts'

/** A notification of one event for one user. `mail_kind`: it is mailed too, to those who want mails of
 * this kind; null: it is not. */
export type NewNotification = {
  user_id: string
  event_id: string
  event_type: string
  title: string
  body: string
  resource_type: 'access_request' | 'access_grant' | 'notification_channel' | 'identity_provider' | 'user'
  resource_id: string
  mail_kind: NotificationKind | null
}

/** The notification of one event, and the users who get it. */
export type Addressed = { notification: Omit<NewNotification, 'user_id'>; user_ids: readonly string[] }

/** `mails`: mail is set up. */
export type Mailing = { mails: boolean }

/** The kind of mail that goes with the notification; null: none. */
export function mailKind<To extends Audience, Facts>(
  { mails }: Mailing,
  rule: Rule<To, Facts>,
  facts: Facts,
): NotificationKind | null {
  return mails && isMailed(rule, facts) ? rule.kind : null
}

export function newNotification(
  event: DeliveredEvent,
  resource_type: NewNotification['resource_type'],
  message: Message,
  mail_kind: NotificationKind | null,
): Addressed['notification'] {
  const { id: event_id, type: event_type, subject_id: resource_id } = event
  return {
    event_id,
    event_type,
    title: message.title,
    body: paragraphOf(message),
    resource_type,
    resource_id,
    mail_kind,
  }
}

import type { DeliveredEvent } from '../events/deliver.ts'
import { type Mail, type Opening, writeMail } from '../mail/mail-layout.ts'
import { linkTo } from '../mail/message-link.ts'
import type { Message } from '../messages/message.ts'
import type { Mode } from '../tenants/mode.ts'
import type { NotificationKind } from './notification-kind.ts'
import { type Audience, audiences } from './notification-rules.ts'

/** A message to a person of its audience. */
export type Addressed = { to: Audience; message: Message; opening?: Opening }

/** What the mail of a notification says beside its message. */
export type NotificationMail = {
  kind: NotificationKind
  tenant: string
  mode: Mode
  event: Pick<DeliveredEvent, 'subject_type' | 'subject_id'>
}

/** Where the access can be extended, the link is for that. */
export const extending: Opening = { label: 'Extend it', does: 'opening it shows how, and changes nothing' }

export function writeNotificationMail(
  { to, message, opening }: Addressed,
  { kind, tenant, mode, event }: NotificationMail,
  of: { public_url: string; tenant_id: string },
): Mail {
  return writeMail(message, {
    link: linkTo(of, event),
    ...(opening && { opening }),
    why:
      `You get this mail because ${audiences[to].because(tenant)}. Your notification preferences say what is mailed to you ` +
      `(PUT /v1/users/me/notification-preferences); this mail is of the kind ${kind}.`,
    mode,
  })
}

import type { DueWork } from '../jobs/work-list.ts'
import { type Mailing, sendDueMails } from '../mail/send-due-mail.flow.ts'
import { composeNotificationMail } from './compose-notification-mail.flow.ts'
import { isChosen } from './notification-kind.ts'
import { beginMail, type DueNotification, maxMailsAnHour } from './notification-mail-store.ts'

/** The dependencies of the job. */
export type NotificationMailing = Mailing & { public_url: string }

/** Waiting mails of a person come back at different moments. */
const spreadMs = 30_000

const overLimit = `the person gets at most ${maxMailsAnHour} mails of this kind in an hour`
const overtaken = 'what it is about had passed before the mail was sent'

/** Mails notifications, each to its person's own verified address. */
export function mailNotification(mailing: NotificationMailing): DueWork {
  const { mailer, public_url } = mailing
  return sendDueMails(mailing, {
    table: 'notification_mail',
    async begin(tx, item) {
      const due = await beginMail(tx, item)
      if (due === undefined) return undefined
      const unwanted = whyUnwanted(due)
      if (unwanted !== undefined) return { drop: unwanted }
      if (due.wait_ms !== null) return { wait_ms: due.wait_ms + Math.random() * spreadMs, why: overLimit }
      return {
        attempts: due.attempts,
        async compose() {
          const mail = await composeNotificationMail(tx, due, public_url)
          if (mail === undefined) return { drop: overtaken }
          return { ...mail, to: due.email, message_id: item.id, headers: headersOf(due, mailer.domain) }
        },
      }
    },
  })
}

/** Why the mail is not sent at all; undefined: it is. */
function whyUnwanted({ is_over, may_be_mailed, kind, choices }: DueNotification): string | undefined {
  if (is_over) return 'its time was over before it could be sent'
  if (!may_be_mailed) return 'the person is not active, or the address is not verified'
  return isChosen(kind, choices) ? undefined : 'the person wants no mails of this kind'
}

/** Headers for programs: readers can sort by kind and event, and mails about one request form a thread. None contains user text. */
function headersOf({ kind, event, request_id }: DueNotification, domain: string): Record<string, string> {
  return {
    'List-Id': `<${kind}.notifications.${domain}>`,
    'X-Sallyport-Event': event.type,
    ...(request_id !== null && { References: `<request-${request_id}@${domain}>` }),
  }
}

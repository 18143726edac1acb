import type { WorkItem } from '../jobs/claim.ts'
import type { DueWork } from '../jobs/work-list.ts'
import type { Tx } from '../kernel/context.ts'
import type { MailRow } from '../mail/due-mail-store.ts'
import type { MailTo } from '../mail/mailer.flow.ts'
import { type BegunMail, type Mailing, mailSender } from '../mail/send-mail.flow.ts'
import { composeNotificationMail } from './compose-notification-mail.flow.ts'
import { isChosen } from './notification-kind.ts'
import {
  beginMail,
  closeQueue,
  type DueNotification,
  isHeld,
  listDueMails,
  maxMailsAnHour,
} from './notification-mail-store.ts'

/** The dependencies of the job. */
export type NotificationMailing = Mailing & { public_url: string }

/** After this many mails, or this long, the run ends and other tenants have their turn. */
const maxPerRun = 20
const maxRunMs = 10_000
/** Mails of a tenant in flight at once. */
const inFlightOfTenant = 4

const overLimit = `the person gets at most ${maxMailsAnHour} mails of this kind in an hour`
const overtaken = 'what it is about had passed before the mail was sent'

/**
 * Mails notifications, each to its person's own verified address. The work list has a row for each tenant, so that the many mails of one
 * hold up those of no other. Of a tenant, urgent mails go first.
 */
export function mailNotifications(mailing: NotificationMailing): DueWork {
  const sendMail = mailSender(mailing)
  return {
    table: 'notification_mail_queue',
    bounds: { width: 8, perTenant: 1 },
    async run({ tx }, item) {
      const until = performance.now() + maxRunMs
      const due = await listDueMails(tx, maxPerRun)
      const faults: unknown[] = []
      const worker = async () => {
        while (!mailing.leaving.aborted && performance.now() < until) {
          const id = due.shift()
          if (id === undefined) return
          const row: MailRow = { table: 'notification_mail', held: isHeld(tx, item, id) }
          await sendMail(tx, row, () => begin(mailing, tx, item, id)).catch((fault: unknown) => faults.push(fault))
        }
      }
      await Promise.all(Array.from({ length: inFlightOfTenant }, worker))
      await closeQueue(tx, item)
      if (faults.length > 0) throw faults[0]
    },
  }
}

async function begin(
  { mailer, public_url }: NotificationMailing,
  tx: Tx,
  item: WorkItem,
  id: string,
): Promise<BegunMail | undefined> {
  const due = await beginMail(tx, item, id)
  if (due === undefined) return undefined
  const unwanted = whyUnwanted(due)
  if (unwanted !== undefined) return { drop: unwanted }
  const compose = async (): Promise<MailTo | { drop: string }> => {
    const mail = await composeNotificationMail(tx, due, public_url)
    if (mail === undefined) return { drop: overtaken }
    return { ...mail, to: due.email, message_id: id, headers: headersOf(due, mailer.domain) }
  }
  if (due.wait_ms === null) return { attempts: due.attempts, compose }
  // A mail of no more use does not keep others waiting.
  const mail = await compose()
  return 'drop' in mail ? mail : { wait_ms: due.wait_ms, why: overLimit }
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

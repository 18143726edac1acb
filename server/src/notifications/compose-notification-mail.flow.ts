import type { Tx } from '../kernel/context.ts'
import type { Mail } from '../mail/mail-layout.ts'
import type { EventFacts } from '../messages/event-facts.ts'
import type { Message } from '../messages/message.ts'
import { grantMessage, isGrantEvent, isRequestEvent, recordMessage, requestMessage } from '../messages/message-table.ts'
import {
  findChannelFacts,
  findDirectoryFacts,
  findGrantFacts,
  findRequestFacts,
  findUserFacts,
} from './notification-facts-store.ts'
import { type Addressed, extending, writeNotificationMail } from './notification-mail.ts'
import type { DueNotification } from './notification-mail-store.ts'
import {
  type Audience,
  audienceOf,
  channelEvent,
  isDirectoryEvent,
  isMailed,
  isStillOf,
  isUserEvent,
  notificationRules,
  type Rule,
  type UserRule,
} from './notification-rules.ts'

/**
 * The mail of a notification: it says what the notification says, in the person's time zone, and how to connect in full. Undefined where
 * it is of no use any more, or where the person lost the rights by which they were notified.
 */
export async function composeNotificationMail(
  tx: Tx,
  due: DueNotification,
  public_url: string,
): Promise<Mail | undefined> {
  const addressed = await messageTo(tx, due)
  return addressed && writeNotificationMail(addressed, due, { public_url, tenant_id: tx.tenant_id })
}

async function messageTo(tx: Tx, due: DueNotification): Promise<Addressed | undefined> {
  const { event } = due
  const { type } = event
  if (isRequestEvent(type)) {
    const facts = (await findRequestFacts(tx, [event])).get(event.id)
    return addressed(due, notificationRules[type], facts, (here) => requestMessage(type, here))
  }
  if (isGrantEvent(type)) {
    const facts = (await findGrantFacts(tx, [event])).get(event.id)
    const mail = addressed(due, notificationRules[type], facts, (here) => grantMessage(type, here))
    const offersMore = type === 'grant.expiring' && facts?.extension === 'possible'
    return mail && { ...mail, ...(offersMore && { opening: extending }) }
  }
  if (type === channelEvent) {
    const facts = await findChannelFacts(tx, event)
    return addressed(due, notificationRules[type], facts, (here) => recordMessage(type, here))
  }
  if (isDirectoryEvent(type)) {
    const facts = await findDirectoryFacts(tx, event)
    return addressed(due, notificationRules[type], facts, (here) => recordMessage(type, here))
  }
  if (!isUserEvent(type)) throw new Error(`nobody is notified of ${type}`)
  const rule: UserRule = notificationRules[type]
  return addressed(due, rule, await findUserFacts(tx, event), (here) => recordMessage(type, here))
}

/** Undefined where the mail does not fit its person any more. */
function addressed<To extends Audience, Facts extends EventFacts & { is_own?: boolean }>(
  due: DueNotification,
  rule: Rule<To, Facts>,
  facts: Facts | undefined,
  write: (facts: Facts) => Message,
): Addressed | undefined {
  if (facts === undefined || !isMailed(rule, facts)) return undefined
  const to = audienceOf(rule.to, facts.is_own ?? false)
  return isStillOf(to, due) ? { to, message: write({ ...facts, zone: due.zone }) } : undefined
}

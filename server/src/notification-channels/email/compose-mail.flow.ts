import type { Tx } from '../../kernel/context.ts'
import { type Mail, writeMail } from '../../mail/mail-layout.ts'
import { linkTo } from '../../mail/message-link.ts'
import type { Message } from '../../messages/message.ts'
import {
  bareMessage,
  grantMessage,
  isGrantEvent,
  isRecordEvent,
  isRequestEvent,
  recordMessage,
  requestMessage,
} from '../../messages/message-table.ts'
import { readMode } from '../../tenants/mode-store.ts'
import type { DeliveredEvent, Delivery } from '../carrier.ts'
import type { EmailChannel } from '../email-channel.ts'
import { findGrantFacts, findRequestFacts, readRecordFacts } from './mail-facts-store.ts'

/**
 * The mail about an event: subject, plain text and HTML. Its link opens a page that decides nothing.
 * @param tx the tenant's transaction, to look up names
 */
export async function composeMail(
  tx: Tx,
  channel: EmailChannel,
  { event, recipient }: Delivery,
  public_url: string,
): Promise<Mail> {
  const [message = bareMessage(event), mode] = await Promise.all([messageAbout(tx, event, recipient), readMode(tx)])
  return writeMail(message, {
    subject_prefix: channel.config.subject_prefix,
    link: linkTo({ public_url, tenant_id: tx.tenant_id }, event),
    why: `You get this mail because the channel “${channel.name}” of Sallyport is notified of ${event.type}. Event ${event.id}.`,
    mode,
  })
}

/** The event's own message; undefined when it has none, or when its record is gone. */
async function messageAbout(tx: Tx, event: DeliveredEvent, recipient: string): Promise<Message | undefined> {
  const { type } = event
  if (isRequestEvent(type)) {
    const facts = await findRequestFacts(tx, event)
    return facts && requestMessage(type, facts)
  }
  if (isGrantEvent(type)) {
    const facts = await findGrantFacts(tx, event, recipient)
    return facts && grantMessage(type, facts)
  }
  return isRecordEvent(type) ? recordMessage(type, await readRecordFacts(tx, event)) : undefined
}

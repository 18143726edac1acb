import { eventTable } from '../../events/catalogue.ts'
import type { Tx } from '../../kernel/context.ts'
import { moment } from '../../kernel/plain-words.ts'
import type { Delivery } from '../carrier.ts'
import type { EmailChannel } from '../email-channel.ts'
import { type Mail, writeMail } from './mail-content.ts'

/**
 * The mail about an event: subject, plain text and HTML. What it links to shows, and decides nothing.
 * @param tx the tenant's door, for names
 */
export async function composeMail(
  _tx: Tx,
  channel: EmailChannel,
  { event }: Delivery,
  _public_url: string,
): Promise<Mail> {
  const { means } = eventTable[event.type]
  const facts = [
    ['When', moment(event.at)],
    ['What', `${event.subject_type} ${event.subject_id}`],
  ] as const
  return writeMail(
    { subject: means, headline: `${means}.`, facts },
    {
      subject_prefix: channel.config.subject_prefix,
      link: undefined,
      why: `The channel “${channel.name}” of Sallyport is told of ${event.type}. Event ${event.id}.`,
    },
  )
}

import { eventTable } from '../../events/catalogue.ts'
import type { Tx } from '../../kernel/context.ts'
import { moment } from '../../kernel/plain-words.ts'
import type { Delivery, ToldEvent } from '../carrier.ts'
import type { EmailChannel } from '../email-channel.ts'
import { findGrantFacts, findRequestFacts, readRecordFacts } from './mail-facts-store.ts'
import { type Mail, writeMail } from './mail-layout.ts'
import { isGrantMail, isRecordMail, isRequestMail, mailTemplates } from './templates/mail-templates.ts'
import type { MailContent } from './templates/template.ts'

/**
 * The mail about an event: subject, plain text and HTML. What it links to shows, and decides nothing.
 * @param tx the tenant's door, for names
 */
export async function composeMail(
  tx: Tx,
  channel: EmailChannel,
  { event }: Delivery,
  public_url: string,
): Promise<Mail> {
  const content = (await contentOf(tx, event)) ?? bareContent(event)
  return writeMail(content, {
    subject_prefix: channel.config.subject_prefix,
    link: linkTo(public_url, event),
    why: `You get this because the channel “${channel.name}” of Sallyport is told of ${event.type}. Event ${event.id}.`,
  })
}

/** What the event's template says; undefined where there is none, or nothing of what it needs. */
async function contentOf(tx: Tx, event: ToldEvent): Promise<MailContent | undefined> {
  const { type } = event
  if (isRequestMail(type)) {
    const facts = await findRequestFacts(tx, type, event)
    return facts && mailTemplates[type](facts)
  }
  if (isGrantMail(type)) {
    const facts = await findGrantFacts(tx, type, event)
    return facts && mailTemplates[type](facts)
  }
  return isRecordMail(type) ? mailTemplates[type](await readRecordFacts(tx, type, event)) : undefined
}

/** That it happened, and to what. */
function bareContent({ type, at, subject_type, subject_id }: ToldEvent): MailContent {
  const { means } = eventTable[type]
  return {
    subject: `${type}: ${means}`,
    headline: `${means}.`,
    facts: [
      ['What', `${subject_type} ${subject_id}`],
      ['When', moment(at)],
    ],
  }
}

/** Where what the event is about can be looked at; undefined where there is no page for it. */
function linkTo(public_url: string, { subject_type, subject_id }: ToldEvent): string | undefined {
  const pages: Readonly<Record<string, string>> = { request: 'requests', grant: 'grants' }
  const page = Object.hasOwn(pages, subject_type) ? pages[subject_type] : undefined
  return page === undefined ? undefined : `${public_url}/${page}/${encodeURIComponent(subject_id)}`
}

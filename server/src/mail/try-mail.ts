import type { Config } from '../config/config.ts'
import { readEmail } from '../kernel/email-address.ts'
import { newId } from '../kernel/id.ts'
import { writeMessage } from '../messages/message.ts'
import { writeMail } from './mail-layout.ts'
import { openMailTransport } from './mail-transport.ts'
import { ownDomain, senderName } from './sender.ts'

/**
 * Sends one mail to test the connection to the mail server; returns the server's answer.
 * @throws Error with a message: no mail server, an invalid address, or the failure
 */
export async function tryMail(
  { mail_server, mail_from, public_url }: Pick<Config, 'mail_server' | 'mail_from' | 'public_url'>,
  address: string,
): Promise<string | null> {
  if (mail_server === undefined)
    throw new Error('SMTP_URL is not set, so there is no mail server to test; set it first')
  const to = readEmail(address)
  if (to === undefined) throw new Error(`\`${address}\` is not an e-mail address`)
  const domain = ownDomain(mail_from)
  const message = writeMessage({
    title: 'A test mail of Sallyport',
    sentence: 'This Sallyport can send mail: this is a test.',
    facts: [['Service', public_url]],
  })
  const transport = openMailTransport(mail_server, domain)
  try {
    const outcome = await transport.send(
      {
        ...writeMail(message, {
          subject_prefix: undefined,
          link: undefined,
          why: 'The operator of Sallyport requested it.',
        }),
        from: { name: senderName, address: mail_from },
        reply_to: undefined,
        to,
        message_id: `${newId()}@${domain}`,
        headers: { 'Auto-Submitted': 'auto-generated' },
      },
      new AbortController().signal,
    )
    if (outcome.kind === 'delivered') return outcome.said
    throw new Error(outcome.why)
  } finally {
    transport.close()
  }
}

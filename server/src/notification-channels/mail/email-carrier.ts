import type { Config } from '../../config/config.ts'
import type { Carrier, Delivery, Outcome } from '../carrier.ts'
import type { EmailChannel } from '../email-channel.ts'
import { composeMail } from './compose-mail.flow.ts'
import { type MailTransport, openMailTransport } from './mail-transport.ts'
import { ownDomain, senderName, senderOf } from './sender.ts'
import { readSenders } from './sender-store.ts'

const noServer: Outcome = {
  kind: 'try_again',
  why: 'there is no mail server; the operator of this service sets one with SMTP_URL',
  holds_up: 'all',
}

/** Delivers to mailboxes, one mail to one recipient. Without a mail server deliveries wait. */
export function emailCarrier(config: Pick<Config, 'mail_server' | 'mail_from' | 'public_url'>): Carrier {
  const { mail_server, mail_from, public_url } = config
  const domain = ownDomain(mail_from)
  const transport: MailTransport | undefined = mail_server && openMailTransport(mail_server, domain)

  return {
    maxMs: transport?.maxMs ?? 0,
    async carry(tx, channel, delivery, signal) {
      if (channel.channel_type !== 'email') throw new Error(`a channel of type ${channel.channel_type} is no mailbox`)
      if (transport === undefined) return noServer
      const [senders, mail] = await Promise.all([readSenders(tx), composeMail(tx, channel, delivery, public_url)])
      const wanted = channel.config.from_address ?? (senders.by_default || undefined)
      const { from, reply_to } = senderOf(wanted, senders.domains, mail_from)
      const letter = {
        ...mail,
        from: { name: senderName, address: from },
        reply_to,
        to: delivery.recipient,
        // The same in every attempt, so that a recipient can recognize a second copy; different after a manual resend.
        message_id: `${delivery.id}.${delivery.resends}@${domain}`,
        headers: headersOf(channel, delivery, domain),
      }
      return transport.send(letter, signal)
    },
    async close() {
      transport?.close()
    },
  }
}

/** Headers for programs: auto-responders do not answer, and readers can sort by channel and event. None contains user text. */
function headersOf(channel: EmailChannel, { event }: Delivery, domain: string): Record<string, string> {
  return {
    'Auto-Submitted': 'auto-generated',
    'X-Auto-Response-Suppress': 'OOF, AutoReply',
    'List-Id': `<${channel.id}.${domain}>`,
    'X-Sallyport-Event': event.type,
  }
}

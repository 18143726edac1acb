import type { Mailer } from '../../mail/mailer.flow.ts'
import type { Carrier, Delivery } from '../carrier.ts'
import type { EmailChannel } from '../email-channel.ts'
import { composeMail } from './compose-mail.flow.ts'

/** Delivers to mailboxes, one mail to one recipient. Without a mail server deliveries wait. */
export function emailCarrier(mailer: Mailer, public_url: string): Carrier {
  return {
    maxMs: mailer.maxMs,
    async carry(tx, channel, delivery, signal) {
      if (channel.channel_type !== 'email') throw new Error(`a channel of type ${channel.channel_type} is no mailbox`)
      const mail = await composeMail(tx, channel, delivery, public_url)
      const letter = {
        ...mail,
        to: delivery.recipient,
        from: channel.config.from_address ?? undefined,
        // Different after a manual resend.
        message_id: `${delivery.id}.${delivery.resends}`,
        headers: headersOf(channel, delivery, mailer.domain),
      }
      return mailer.send(tx, letter, signal)
    },
    close: async () => mailer.close(),
  }
}

/** Headers for programs: readers can sort by channel and event. None contains user text. */
function headersOf(channel: EmailChannel, { event }: Delivery, domain: string): Record<string, string> {
  return { 'List-Id': `<${channel.id}.${domain}>`, 'X-Sallyport-Event': event.type }
}

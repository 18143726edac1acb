import type { Config } from '../config/config.ts'
import type { Tx } from '../kernel/context.ts'
import { isUnreachable } from '../kernel/email-address.ts'
import type { SendOutcome } from '../kernel/send-outcome.ts'
import type { Mail } from './mail-layout.ts'
import { openMailTransport } from './mail-transport.ts'
import { ownDomain, senderName, senderOf } from './sender.ts'
import { readSenders } from './sender-store.ts'

/** A mail to one recipient. */
export type MailTo = Mail & {
  to: string
  /** The sender that is wanted; undefined: as the tenant has set it. */
  from?: string | undefined
  /** The same in every attempt, so that a recipient can recognize a second copy; the domain follows. */
  message_id: string
  /** More headers, none of which contains user text. */
  headers: Readonly<Record<string, string>>
}

/** Sends the mails of all tenants, with one set of connections. */
export type Mailer = {
  /** Whether mail is set up. */
  hasServer: boolean
  /** The domain of the installation's own sender. */
  domain: string
  /** Milliseconds that one attempt may take. */
  maxMs: number
  /** Makes one attempt, from the tenant's sender. It never throws for a fault of the mail server. */
  send(tx: Tx, mail: MailTo, signal: AbortSignal): Promise<SendOutcome>
  close(): void
}

const noServer: SendOutcome = {
  kind: 'try_again',
  why: 'there is no mail server; the operator of this service sets one with SMTP_URL',
  holds_up: 'all',
}

const unreachable: SendOutcome = {
  kind: 'refused',
  why: 'no mail reaches an address under `.invalid`; it is that of a person of a rehearsal, or made up',
}

/** Opens the mailer. Without a mail server every attempt fails for now. */
export function openMailer({ mail_server, mail_from }: Pick<Config, 'mail_server' | 'mail_from'>): Mailer {
  const domain = ownDomain(mail_from)
  const transport = mail_server && openMailTransport(mail_server, domain)
  return {
    hasServer: transport !== undefined,
    domain,
    maxMs: transport?.maxMs ?? 0,
    async send(tx, { from: asked, message_id, headers, ...mail }, signal) {
      if (isUnreachable(mail.to)) return unreachable
      if (transport === undefined) return noServer
      const senders = await readSenders(tx)
      const { from, reply_to } = senderOf(asked ?? (senders.by_default || undefined), senders.domains, mail_from)
      const letter = {
        ...mail,
        from: { name: senderName, address: from },
        reply_to,
        message_id: `${message_id}@${domain}`,
        headers: { ...noReplies, ...headers },
      }
      return transport.send(letter, signal)
    },
    close: () => transport?.close(),
  }
}

/** Auto-responders do not answer. */
const noReplies = { 'Auto-Submitted': 'auto-generated', 'X-Auto-Response-Suppress': 'OOF, AutoReply' }

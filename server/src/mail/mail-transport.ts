import { setTimeout as pause } from 'node:timers/promises'
import type { MailServer } from '../config/mail-config.ts'
import { sanitizeText } from '../kernel/foreign-text.ts'
import { createSemaphore } from '../kernel/semaphore.ts'
import type { SendOutcome } from '../kernel/send-outcome.ts'
import { outcomeOf, type SmtpFault } from './smtp-outcome.ts'

/** One mail to one recipient. */
export type Letter = {
  from: { name: string; address: string }
  reply_to: string | undefined
  to: string
  /** One line. */
  subject: string
  text: string
  html: string
  /** Without its angle brackets. */
  message_id: string
  headers: Readonly<Record<string, string>>
}

/** Sends mails to the mail server of the installation. */
export type MailTransport = {
  /** Milliseconds that `send` takes, at most. */
  maxMs: number
  /** Never throws. */
  send(letter: Letter, signal: AbortSignal): Promise<SendOutcome>
  close(): void
}

/** Milliseconds. */
export type MailDeadlines = {
  /** To set up a connection: name lookup, connect, greeting, TLS. */
  session: number
  /** For a whole attempt. It is long, since giving up on a server that has the mail already would send the mail twice. */
  attempt: number
  /** To wait for a free connection: waiting for Sallyport's other mail is no failure of the mail server. */
  queue: number
}
const usualDeadlines: MailDeadlines = { session: 10_000, attempt: 60_000, queue: 300_000 }

/**
 * Opens the transport to the mail server; it connects at the first mail. It has at most `connections` connections, and begins
 * `per_second` mails a second, evenly spaced. `name`: its host name in the SMTP greeting.
 */
export function openMailTransport(server: MailServer, name: string, deadlines = usualDeadlines): MailTransport {
  const { login, connections, per_second } = server
  let opened: ReturnType<typeof openPool> | undefined
  const busy = new Error('all connections to the mail server are busy with other mail of this service')
  const mails = createSemaphore({ limit: connections, maxWaitMs: deadlines.queue, refusal: () => busy })
  const rateLimit = openRateLimiter(per_second)
  const hide = spellings(login)

  const attempt = async (letter: Letter, signal: AbortSignal): Promise<SendOutcome> => {
    await rateLimit(signal)
    const { reply_to, message_id, subject, ...rest } = letter
    opened ??= openPool(server, name, deadlines)
    const sent = await (await opened).sendMail({
      ...rest,
      // Mail programs decode every encoded word, and would then show another subject than was written.
      subject: subject.replaceAll('=?', '= ?'),
      ...(reply_to !== undefined && { replyTo: reply_to }),
      // The bare recipient address: no list, no name, and no parsing of a text.
      to: { name: '', address: letter.to },
      messageId: `<${message_id}>`,
      signal: AbortSignal.any([signal, AbortSignal.timeout(deadlines.attempt)]),
    })
    return { kind: 'delivered', said: sanitizeText(sent.response, hide) }
  }

  return {
    maxMs: deadlines.queue + deadlines.attempt + (per_second === 0 ? 0 : (connections * 1_000) / per_second),
    async send(letter, signal) {
      try {
        return await mails.run(() => attempt(letter, signal))
      } catch (error) {
        if (signal.aborted)
          return { kind: 'try_again', why: 'the service was stopped during the attempt', holds_up: 'all' }
        if (error === busy) return { kind: 'try_again', why: busy.message, holds_up: 'all', after_ms: 1_000 }
        return outcomeOf(error as SmtpFault, hide)
      }
    },
    close: () => void opened?.then((pool) => pool.close({ force: true })),
  }
}

/** The library takes 7 MB, so it is loaded at the first mail. */
async function openPool(server: MailServer, name: string, deadlines: MailDeadlines) {
  const { host, port, tls, login, connections } = server
  const { createTransport } = await import('nodemailer')
  const pool = createTransport({
    pool: true,
    host,
    port,
    name,
    secure: tls === 'implicit',
    requireTLS: tls === 'starttls',
    ignoreTLS: tls === 'never',
    tls: { minVersion: 'TLSv1.2', rejectUnauthorized: true },
    // A server that offers no login is the wrong server, or not set up for Sallyport: the login is forced, so that it fails.
    ...(login !== undefined && { auth: { user: login.user, pass: login.password }, forceAuth: true }),
    maxConnections: connections,
    maxMessages: 100,
    // Retries once on another connection when an idle connection was closed, never a mail that the server has seen any part of.
    maxRequeues: 1,
    idleTimeout: 20_000,
    connectionTimeout: deadlines.session,
    greetingTimeout: deadlines.session,
    socketTimeout: deadlines.attempt,
    socketCloseTimeout: 1_000,
    maxResponseSize: 65_536,
    disableFileAccess: true,
    disableUrlAccess: true,
    logger: false,
  })
  // `sendMail` reports its own failures; failures of an idle connection do not matter.
  pool.on('error', () => undefined)
  return pool
}

/** Admits `perSecond` calls a second, evenly spaced; 0: no limit. */
function openRateLimiter(perSecond: number): (signal: AbortSignal) => Promise<void> {
  let next = 0
  return async (signal) => {
    if (perSecond === 0) return
    const now = performance.now()
    const mine = Math.max(next, now)
    next = mine + 1_000 / perSecond
    if (mine > now) await pause(mine - now, undefined, { signal })
  }
}

/** The spellings in which a server might repeat the login, the longest first. */
function spellings(login: MailServer['login']): string[] {
  if (login === undefined) return []
  const { user, password } = login
  const base64 = (text: string) => Buffer.from(text, 'utf8').toString('base64')
  const all = [base64(`\0${user}\0${password}`), base64(password), base64(user), password, user]
  return [...all, ...[password, user].map(encodeURIComponent)].sort((one, other) => other.length - one.length)
}

import { setTimeout as pause } from 'node:timers/promises'
import { createTransport } from 'nodemailer'
import type { MailServer } from '../../config/mail-config.ts'
import { saidWords } from '../../kernel/said-words.ts'
import { createSemaphore } from '../../kernel/semaphore.ts'
import type { Outcome } from '../carrier.ts'
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

/** Hands mails to the one mail server of the installation. */
export type MailTransport = {
  /** Milliseconds that `send` takes at most. */
  maxMs: number
  /** Never throws. */
  send(letter: Letter, signal: AbortSignal): Promise<Outcome>
  close(): void
}

/** Milliseconds. */
export type MailPatience = {
  /** For a connection that serves: looked up, connected, greeted, made safe. */
  session: number
  /** For all of an attempt. Who gives up on a server that has the mail already sends it twice: long, as these go. */
  attempt: number
  /** For a connection that is free: to wait for other mail of ours is no failure of the way there. */
  turn: number
}
const usualPatience: MailPatience = { session: 10_000, attempt: 60_000, turn: 300_000 }

/**
 * Opens the way to the mail server; nothing is connected before there is a mail. It has `connections` at most, and begins
 * `per_second` mails a second, evenly. `name`: the host name by which it introduces itself.
 */
export function openMailTransport(server: MailServer, name: string, patience = usualPatience): MailTransport {
  const { host, port, tls, login, connections, per_second } = server
  const pool = createTransport({
    pool: true,
    host,
    port,
    name,
    secure: tls === 'implicit',
    requireTLS: tls === 'starttls',
    ignoreTLS: tls === 'never',
    tls: { minVersion: 'TLSv1.2', rejectUnauthorized: true },
    // A server that does not ask for the login is not the one that it was meant for, or not set up for us: it shall say so.
    ...(login !== undefined && { auth: { user: login.user, pass: login.password }, forceAuth: true }),
    maxConnections: connections,
    maxMessages: 100,
    // A connection that was closed while nobody used it; never a mail of which the server has seen anything.
    maxRequeues: 1,
    idleTimeout: 20_000,
    connectionTimeout: patience.session,
    greetingTimeout: patience.session,
    socketTimeout: patience.attempt,
    socketCloseTimeout: 1_000,
    maxResponseSize: 65_536,
    disableFileAccess: true,
    disableUrlAccess: true,
    logger: false,
  })
  // Failures are told to whoever sends; those of a connection that nobody uses are nobody's.
  pool.on('error', () => undefined)
  const busy = new Error('the mail server is busy with other mail of ours')
  const mails = createSemaphore({ limit: connections, maxWaitMs: patience.turn, refusal: () => busy })
  const pace = openRateLimiter(per_second)
  const hide = spellings(login)

  const attempt = async (letter: Letter, signal: AbortSignal): Promise<Outcome> => {
    await pace(signal)
    const { reply_to, message_id, subject, ...rest } = letter
    const sent = await pool.sendMail({
      ...rest,
      // Readers decode an encoded word wherever it came from, and then see another subject than was written.
      subject: subject.replaceAll('=?', '= ?'),
      ...(reply_to !== undefined && { replyTo: reply_to }),
      // The recipient as it is: no list, no name, nothing to be read out of a text.
      to: { name: '', address: letter.to },
      messageId: `<${message_id}>`,
      signal: AbortSignal.any([signal, AbortSignal.timeout(patience.attempt)]),
    })
    return { kind: 'delivered', said: saidWords(sent.response, hide) }
  }

  return {
    maxMs: patience.turn + patience.attempt + (per_second === 0 ? 0 : (connections * 1_000) / per_second),
    async send(letter, signal) {
      try {
        return await mails.run(() => attempt(letter, signal))
      } catch (error) {
        if (signal.aborted) return { kind: 'try_again', why: 'the service was stopped meanwhile', holds_up: 'all' }
        if (error === busy) return { kind: 'try_again', why: busy.message, holds_up: 'all', after_ms: 1_000 }
        return outcomeOf(error as SmtpFault, hide)
      }
    },
    close: () => pool.close({ force: true }),
  }
}

/** Lets so many through a second, one after another, evenly; 0: all at once. */
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

/** The login as a server might repeat it, the longest first. */
function spellings(login: MailServer['login']): string[] {
  if (login === undefined) return []
  const { user, password } = login
  const base64 = (text: string) => Buffer.from(text, 'utf8').toString('base64')
  const all = [base64(`\0${user}\0${password}`), base64(password), base64(user), password, user]
  return [...all, ...[password, user].map(encodeURIComponent)].sort((one, other) => other.length - one.length)
}

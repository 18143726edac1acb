import { backoffDelay } from '../kernel/backoff.ts'
import type { Tx } from '../kernel/context.ts'
import { abortedAfter, withinDeadline } from '../kernel/deadline.ts'
import { failedHere, type SendOutcome } from '../kernel/send-outcome.ts'
import { giveUpMail, type MailRow, type MailTable, retryMail, saveSent } from './due-mail-store.ts'
import type { Mailer, MailTo } from './mailer.flow.ts'

/** What the mails of all tables need to be sent. */
export type Mailing = {
  mailer: Mailer
  /** The service is stopping: no attempt begins. */
  leaving: AbortSignal
  /** Called at the end of each attempt. `given_up`: it was the last one. `dropped`: the mail is not wanted, useful or allowed any more. */
  onMail?(table: MailTable, outcome: SendOutcome['kind'] | 'given_up' | 'dropped'): void
}

/**
 * A mail at the start of an attempt. `drop`: why it is not sent any more. `wait_ms`: it is not sent yet, and why. `compose` may read the
 * database and decide to drop the mail too.
 */
export type BegunMail =
  | { drop: string }
  | { wait_ms: number; why: string }
  /** `attempts`: with this one. */
  | { attempts: number; compose(): Promise<MailTo | { drop: string }> }

/** Sends one mail. `begin` records the start of an attempt; undefined when the row was lost, or has ended. */
export type SendMail = (tx: Tx, row: MailRow, begin: () => Promise<BegunMail | undefined>) => Promise<void>

/** Attempts in about a day. */
const maxAttempts = 20
const backoff = { base: 10_000, max: 2 * 3_600_000, jitter: 0.5 }

/** Attempts in flight at shutdown may take this long; a little later the work list releases their rows. */
const maxLeavingMs = 4_000
/** Added to the mailer's own deadline; after that the job stops waiting. */
const graceMs = 1_000

/**
 * Sends mails, one at a time. An attempt that a dying process left is made again with the same Message-ID, by which the recipient's
 * mail program recognizes a second copy.
 */
export function mailSender(mailing: Mailing): SendMail {
  const { leaving } = mailing
  const cut = abortedAfter(leaving, maxLeavingMs)
  return async (tx, row, begin) => {
    if (leaving.aborted) return retryMail(tx, row, { why: 'the service was stopped', wait_ms: 0 })
    const begun = await begin()
    if (begun === undefined) return
    if ('wait_ms' in begun) return retryMail(tx, row, begun)
    if ('drop' in begun) return drop(mailing, tx, row, begun.drop)
    // Where processes die in their attempts, none of them has an outcome.
    if (begun.attempts > maxAttempts) {
      mailing.onMail?.(row.table, 'given_up')
      return giveUpMail(tx, row, failedHere.why)
    }
    const result: { outcome: SendOutcome | { drop: string }; fault?: unknown } = await attempt(
      mailing,
      tx,
      begun,
      cut,
    ).then(
      (outcome) => ({ outcome }),
      (fault: unknown) => ({ outcome: failedHere, fault }),
    )
    const { outcome } = result
    if ('drop' in outcome) return drop(mailing, tx, row, outcome.drop)
    mailing.onMail?.(row.table, isLast(begun.attempts, outcome) ? 'given_up' : outcome.kind)
    await save(tx, row, begun.attempts, outcome)
    if ('fault' in result) throw result.fault
  }
}

async function drop(mailing: Mailing, tx: Tx, row: MailRow, why: string): Promise<void> {
  mailing.onMail?.(row.table, 'dropped')
  await giveUpMail(tx, row, why)
}

/** One attempt with a deadline, in case the mailer does not keep its own. */
async function attempt(
  { mailer }: Mailing,
  tx: Tx,
  { compose }: Extract<BegunMail, { attempts: number }>,
  cut: AbortSignal,
): Promise<SendOutcome | { drop: string }> {
  const mail = await compose()
  if ('drop' in mail) return mail
  return withinDeadline(
    mailer.maxMs + graceMs,
    (over) => mailer.send(tx, mail, AbortSignal.any([over, cut])),
    () => ({ kind: 'try_again', why: 'the attempt took too long', holds_up: 'this' }),
  )
}

/** A temporary failure that is not followed by another attempt. */
function isLast(attempts: number, { kind }: SendOutcome): boolean {
  return kind === 'try_again' && attempts >= maxAttempts
}

async function save(tx: Tx, row: MailRow, attempts: number, outcome: SendOutcome): Promise<void> {
  if (outcome.kind === 'delivered') return saveSent(tx, row)
  const { why } = outcome
  if (outcome.kind !== 'try_again' || isLast(attempts, outcome)) return giveUpMail(tx, row, why)
  const wait_ms = Math.max(backoffDelay(backoff, attempts - 1, Math.random()), outcome.after_ms ?? 0)
  return retryMail(tx, row, { why, wait_ms })
}

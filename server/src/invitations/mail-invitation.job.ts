import type { WorkItem } from '../jobs/claim.ts'
import type { DueWork } from '../jobs/work-list.ts'
import { backoffDelay } from '../kernel/backoff.ts'
import type { Sealer, Tx } from '../kernel/context.ts'
import { abortedAfter, withinDeadline } from '../kernel/deadline.ts'
import { invitationMessage } from '../messages/invitation-message.ts'
import { failedHere, type Outcome } from '../notification-channels/carrier.ts'
import { rehearsalNote } from '../notification-channels/mail/compose-mail.flow.ts'
import { type Mail, writeMail } from '../notification-channels/mail/mail-layout.ts'
import type { Mailer } from '../notification-channels/mail/mailer.flow.ts'
import { secretLink } from '../sessions/session-secret.ts'
import { beginMail, type DueMail, giveUpMail, retryMail, saveSent } from './invitation-mail-store.ts'
import { endedBefore } from './invitation-store.ts'
import { mailedPlace } from './invite.flow.ts'

/** The dependencies of the job. */
export type InvitationMailing = {
  mailer: Mailer
  sealer: Sealer
  public_url: string
  /** The service is stopping: no attempt begins. */
  leaving: AbortSignal
}

/** Attempts in about a day. Who was invited by then gets the link from the inviter, or another invitation. */
const maxAttempts = 20
const backoff = { base: 10_000, max: 2 * 3_600_000, jitter: 0.5 }

/** Attempts in flight at shutdown may take this long; a little later the work list releases their rows. */
const maxLeavingMs = 4_000
/** Added to the mailer's own deadline; after that the job stops waiting. */
const graceMs = 1_000

/**
 * Mails invitations, each to the address that was invited. An attempt that a dying process left is made again with the same
 * Message-ID, by which the recipient's mail program recognizes a second copy.
 */
export function mailInvitation(mailing: InvitationMailing): DueWork {
  const { leaving } = mailing
  const cut = abortedAfter(leaving, maxLeavingMs)
  return {
    table: 'invitation_mail',
    bounds: { width: 8, perTenant: 4 },
    async run({ tx }, item) {
      if (leaving.aborted) return retryMail(tx, item, 'the service was stopped', 0)
      const due = await beginMail(tx, item)
      if (due === undefined) return
      if (!due.is_live) return giveUpMail(tx, item, endedBefore)
      // Where processes die in their attempts, none of them has an outcome.
      if (due.attempts > maxAttempts) return giveUpMail(tx, item, failedHere.why)
      const result: { outcome: Outcome; fault?: unknown } = await attempt(mailing, tx, item, due, cut).then(
        (outcome) => ({ outcome }),
        (fault: unknown) => ({ outcome: failedHere, fault }),
      )
      await save(tx, item, due, result.outcome)
      if ('fault' in result) throw result.fault
    },
  }
}

/** One attempt with a deadline, in case the mailer does not keep its own. */
async function attempt(
  { mailer, sealer, public_url }: InvitationMailing,
  tx: Tx,
  { id }: WorkItem,
  due: DueMail,
  cut: AbortSignal,
): Promise<Outcome> {
  const key = await sealer.unseal(tx, due.sealed, mailedPlace(id))
  const mail = {
    ...composeInvitation(due, secretLink(public_url, 'invitation', key)),
    to: due.email,
    message_id: id,
    headers: {},
  }
  return withinDeadline(
    mailer.maxMs + graceMs,
    (over) => mailer.send(tx, mail, AbortSignal.any([over, cut])),
    () => ({ kind: 'try_again', why: 'the attempt took too long', holds_up: 'this' }),
  )
}

async function save(tx: Tx, item: WorkItem, due: DueMail, outcome: Outcome): Promise<void> {
  if (outcome.kind === 'delivered') return saveSent(tx, item)
  const after_ms = outcome.kind === 'try_again' ? outcome.after_ms : undefined
  const isOver = outcome.kind !== 'try_again' || due.attempts >= maxAttempts
  return isOver ? giveUpMail(tx, item, outcome.why) : retryMail(tx, item, outcome.why, waitMs(due, after_ms))
}

function waitMs({ attempts }: DueMail, after_ms = 0): number {
  return Math.max(backoffDelay(backoff, attempts - 1, Math.random()), after_ms)
}

/** The mail of an invitation. Its one link carries the secret that proves the address. */
function composeInvitation(due: Omit<DueMail, 'sealed' | 'attempts' | 'is_live'>, link: string): Mail {
  const { tenant, name, email, inviter, expires_at, zone, mode } = due
  const message = invitationMessage({ tenant, invited: { name, email }, inviter, expires_at, zone })
  return writeMail(message, {
    subject_prefix: undefined,
    link,
    opening: { label: 'Accept the invitation', does: 'opening it does not use it up' },
    why: `You get this mail because ${email} was invited to Sallyport.${rehearsalNote(mode)}`,
  })
}

import type { DueWork } from '../jobs/work-list.ts'
import type { Sealer } from '../kernel/context.ts'
import { type Mail, writeMail } from '../mail/mail-layout.ts'
import { type Mailing, mailSender } from '../mail/send-mail.flow.ts'
import { invitationMessage } from '../messages/invitation-message.ts'
import { secretLink } from '../sessions/session-secret.ts'
import { beginMail, type DueMail, isHeld } from './invitation-mail-store.ts'
import { endedBefore } from './invitation-store.ts'
import { mailedPlace } from './invite.flow.ts'

/** The dependencies of the job. */
export type InvitationMailing = Mailing & { sealer: Sealer; public_url: string }

/**
 * Mails invitations, each to the address that was invited. Who was invited by the time that a mail is given up gets the link from the
 * inviter, or another invitation.
 */
export function mailInvitation(mailing: InvitationMailing): DueWork {
  const { sealer, public_url } = mailing
  const sendMail = mailSender(mailing)
  return {
    table: 'invitation_mail',
    bounds: { width: 8, perTenant: 4 },
    run: ({ tx }, item) =>
      sendMail(tx, { table: 'invitation_mail', held: isHeld(tx, item) }, async () => {
        const due = await beginMail(tx, item)
        if (due === undefined) return undefined
        if (!due.is_live) return { drop: endedBefore }
        return {
          attempts: due.attempts,
          async compose() {
            const key = await sealer.unseal(tx, due.sealed, mailedPlace(item.id))
            const mail = composeInvitation(due, secretLink(public_url, 'invitation', key))
            return { ...mail, to: due.email, message_id: item.id, headers: {} }
          },
        }
      }),
  }
}

/** The mail of an invitation. Its one link carries the secret that proves the address. */
function composeInvitation(due: Omit<DueMail, 'sealed' | 'attempts' | 'is_live'>, link: string): Mail {
  const { tenant, name, email, inviter, expires_at, zone, mode } = due
  const message = invitationMessage({ tenant, invited: { name, email }, inviter, expires_at, zone })
  return writeMail(message, {
    link,
    opening: { label: 'Accept the invitation', does: 'opening it does not use it up' },
    why: `You get this mail because ${email} was invited to Sallyport.`,
    mode,
  })
}

import { type Static, Type } from 'typebox'
import { Body, DateTime, Name, Nullable, OneOf, Uuid } from '../http/schema.ts'
import { emailFault, readEmail } from '../kernel/email-address.ts'
import { invalidInput, Problem } from '../kernel/errors.ts'
import { RoleIds, requireMayGive } from '../roles/role.ts'

const invitationStates = ['pending', 'used', 'revoked', 'replaced', 'expired'] as const
const mailStates = ['not_set_up', 'pending', 'sent', 'failed'] as const

const InvitationMail = Type.Object(
  {
    state: OneOf(mailStates, {
      description: '`not_set_up`: the service had no mail server, so the link was not mailed',
    }),
    sent_at: Type.Optional(Type.String({ format: 'date-time', description: 'when the mail server accepted it' })),
    error: Type.Optional(Type.String({ description: 'why the last attempt failed, or why there was none' })),
  },
  { title: 'InvitationMail' },
)

const known = {
  id: Uuid,
  user_id: Uuid,
  email: Type.String(),
  name: Type.String(),
  expires_at: DateTime,
  created_at: DateTime,
  created_by: Nullable(Type.String({ format: 'uuid', description: 'the user who made it, or whose API key did' })),
  mail: InvitationMail,
}

/** An invitation as listed: without its link, which nobody can read again. */
export const Invitation = Type.Object(
  { ...known, state: OneOf(invitationStates), ended_at: Type.Optional(DateTime) },
  { title: 'Invitation' },
)
export type Invitation = Static<typeof Invitation>

/** A new invitation, the only reply with its link. */
export const MadeInvitation = Type.Object(
  { ...known, url: Type.String({ description: 'the link, which works once; shown here only' }) },
  { title: 'MadeInvitation' },
)
export type MadeInvitation = Static<typeof MadeInvitation>

/** An invitation as stored; null stands for a field that is left out. */
export type StoredInvitation = Omit<Invitation, 'mail' | 'ended_at'> & {
  ended_at: string | null
  mail_state: Exclude<Invitation['mail']['state'], 'not_set_up'> | null
  mail_sent_at: string | null
  mail_error: string | null
}

export function invitationOf({
  ended_at,
  mail_state,
  mail_sent_at,
  mail_error,
  ...rest
}: StoredInvitation): Invitation {
  const mail = {
    state: mail_state ?? ('not_set_up' as const),
    ...(mail_sent_at !== null && { sent_at: mail_sent_at }),
    ...(mail_error !== null && { error: mail_error }),
  }
  return { ...rest, ...(ended_at !== null && { ended_at }), mail }
}

export const InvitationInput = Body({
  email: Type.String({ maxLength: 1000, description: 'one bare e-mail address' }),
  name: Name(200),
  roles: RoleIds,
})

/** The address as it is stored. @throws Problem 400 */
export function requireEmail(text: string): string {
  const email = readEmail(text)
  if (email === undefined) throw invalidInput([{ pointer: '/email', why: emailFault }])
  return email
}

/** A user whose row is locked, as far as an invitation asks. */
export type Invitable = {
  id: string
  is_active: boolean
  /** Nobody could ever sign in as the user: by no password, second factor or account at a provider. */
  never_joined: boolean
  /** Nobody is the user: the rehearsal made it. */
  rehearses: boolean
  /** The person can join: with a password as a local user, or by the tenant’s own provider. */
  has_way_in: boolean
  /** Rules may trust the members of a group that gives no scope. */
  in_group: boolean
  scopes: readonly string[]
}

/**
 * Who has the link of a user is that user, so the inviter must hold every scope that the user holds.
 * @throws Problem 403 for a person of the rehearsal, and naming the scopes that the caller lacks; 409 for a user who can sign in, 422 for
 * one who may not
 */
export function requireMayInvite(user: Invitable, inviter: ReadonlySet<string>): void {
  if (user.rehearses) throw new Problem('forbidden', 'this is a person of the rehearsal: nobody can be invited as them')
  requireMayGive(inviter, user.scopes)
  if (user.in_group && !inviter.has('groups:write')) {
    throw new Problem('forbidden', 'this user is in a group, so that inviting them needs `groups:write` too')
  }
  if (!user.never_joined) throw alreadyJoined()
  if (!user.is_active) {
    throw new Problem('unprocessable', 'this user is deactivated or suspended: end that first, then invite them')
  }
  if (!user.has_way_in) {
    throw new Problem(
      'unprocessable',
      'a directory manages this user, or they sign in by a provider and the tenant has none enabled: enable it first',
    )
  }
}

function alreadyJoined(): Problem {
  const lost = 'who lost their second factors gets them reset, and who lost the password is deleted and invited again'
  return new Problem('already_joined', `this user can sign in already, and needs no invitation: ${lost}`)
}

/** @returns the refusal to revoke a link that was used */
export function usedAlready(): Problem {
  const todo = 'deactivate or delete the user to end that'
  return new Problem('already_joined', `this invitation was used, and the user can sign in: ${todo}`)
}

/** Invitations of one user that are kept, at most: with one more, the oldest is deleted. */
export const maxKept = 20

/** Mails of one tenant in an hour, and to one address in a day, at most: invitations are no way to send many mails. */
export const maxMails = { of_tenant_an_hour: 100, to_address_a_day: 5 }

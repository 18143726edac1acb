import { type Static, Type } from 'typebox'
import { Body, OneOf } from '../http/schema.ts'
import { isUnreachable } from '../kernel/email-address.ts'
import { isChosen, kindNames, type MailChoices, type NotificationKind, notificationKinds } from './notification-kind.ts'

/** Whether notifications of a kind are mailed. */
const Choice = (kind: NotificationKind) => {
  const { means, mailed_by_default } = notificationKinds[kind]
  const description = `${means}; ${mailed_by_default ? 'mailed' : 'not mailed'} by default`
  return Type.Object({ mail: Type.Boolean() }, { description, additionalProperties: false })
}

type Kinds<Schema> = { [Kind in NotificationKind]: Schema }
const choices = Object.fromEntries(kindNames.map((kind) => [kind, Choice(kind)])) as Kinds<ReturnType<typeof Choice>>

const obstacles = ['no_mail_server', 'address_not_verified', 'unreachable_address'] as const

/** Which notifications a user has mailed, and whether mails reach them. */
export const NotificationPreferences = Type.Object(
  {
    kinds: Type.Object(choices),
    mail: Type.Object(
      {
        address: Type.String({ description: 'where the mails go: your own address' }),
        obstacle: Type.Optional(
          OneOf(obstacles, {
            description:
              'why nothing is mailed to you now: the service has no mail server, the address is not verified, or it is one that no mail reaches',
          }),
        ),
      },
      { description: 'cannot be changed here' },
    ),
  },
  { title: 'NotificationPreferences' },
)
export type NotificationPreferences = Static<typeof NotificationPreferences>

export const NotificationPreferencesInput = Body({
  kinds: Type.Partial(Type.Object(choices), {
    additionalProperties: false,
    description: 'the whole choice: a kind that is left out is as it is by default',
  }),
})
export type NotificationPreferencesInput = Static<typeof NotificationPreferencesInput>

/** A user's choices as stored, and their address. */
export type MailedUser = { email: string; email_verified: boolean; choices: MailChoices }

export function preferencesOf(
  { email, email_verified, choices }: MailedUser,
  sends_mail: boolean,
): NotificationPreferences {
  const obstacle = obstacleOf(email, email_verified, sends_mail)
  return {
    kinds: Object.fromEntries(kindNames.map((kind) => [kind, { mail: isChosen(kind, choices) }])) as Kinds<{
      mail: boolean
    }>,
    mail: { address: email, ...(obstacle !== undefined && { obstacle }) },
  }
}

function obstacleOf(
  email: string,
  email_verified: boolean,
  sends_mail: boolean,
): (typeof obstacles)[number] | undefined {
  if (isUnreachable(email)) return 'unreachable_address'
  if (!email_verified) return 'address_not_verified'
  return sends_mail ? undefined : 'no_mail_server'
}

/** The choices to store: those that differ from the default, so that a kind which a person never changed follows its default. */
export function choicesIn({ kinds }: NotificationPreferencesInput): MailChoices {
  const chosen = kindNames.flatMap((kind) => {
    const mail = kinds[kind]?.mail
    return mail === undefined || mail === notificationKinds[kind].mailed_by_default ? [] : [[kind, mail] as const]
  })
  return Object.fromEntries(chosen)
}

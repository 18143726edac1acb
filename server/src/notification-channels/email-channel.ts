import { type Static, Type } from 'typebox'
import { Body, Line, OneOf } from '../http/schema.ts'
import { emailFault, emailKey, readEmail } from '../kernel/email-address.ts'
import { type FaultyField, invalidInput } from '../kernel/errors.ts'
import { blank, type Common, changeCommon, lineFaults, nameFaults, newFields, shownFields } from './channel-fields.ts'

/** The recipients of a channel, at most. */
const maxRecipients = 50

export const Recipients = Type.Array(Type.String({ maxLength: 1000 }), {
  minItems: 1,
  maxItems: maxRecipients,
  description: 'each entry is one plain address; no address twice, in no spelling',
})
export const Sender = Type.String({
  maxLength: 1000,
  description: "one address, in place of the tenant's `notifications.from_address`",
})
export const Prefix = Line(100, { minLength: 0, description: 'put before the subject of every mail' })

/** A channel that sends events to mailboxes, as in replies. */
export const EmailChannel = Type.Object(
  {
    ...shownFields,
    channel_type: OneOf(['email'], { description: 'never changes' }),
    config: Type.Object({
      to_addresses: Type.Array(Type.String()),
      from_address: Type.Optional(Type.String()),
      subject_prefix: Type.Optional(Type.String()),
    }),
  },
  { title: 'EmailChannel' },
)
export type EmailChannel = Static<typeof EmailChannel>

const SenderWarning = Type.Object(
  {
    code: OneOf(['sender_not_allowed'], {
      description: 'mails come from the sender of this service, and replies go to the address that the channel names',
    }),
    message: Type.String({ description: 'the warning, as a sentence' }),
  },
  { title: 'SenderWarning' },
)

/** An e-mail channel as its creation and its change return it. */
export const SavedEmailChannel = Type.Object(
  {
    ...EmailChannel.properties,
    warnings: Type.Optional(Type.Array(SenderWarning, { description: 'absent where there are none' })),
  },
  { title: 'SavedEmailChannel' },
)
export type SavedEmailChannel = Static<typeof SavedEmailChannel>

/** The body of `createEmailChannel`. */
export const NewEmailChannel = Body({
  ...newFields,
  to_addresses: Recipients,
  from_address: Type.Optional(Sender),
  subject_prefix: Type.Optional(Prefix),
})
export type NewEmailChannel = Static<typeof NewEmailChannel>

/** The fields of an e-mail channel that its owners choose. */
export type EmailContent = Common & Pick<EmailChannel, 'config'>

/** Null removes a sender or a prefix. */
type EmailChange = Partial<Common> & {
  to_addresses?: string[]
  from_address?: string | null
  subject_prefix?: string | null
}

/**
 * Reads a new channel.
 * @throws Problem 400 naming each faulty field
 */
export function readNewEmail(input: NewEmailChannel): EmailContent {
  return changeEmail({ ...blank, config: { to_addresses: [] } }, input)
}

/**
 * The channel with the fields that the change names.
 * @throws Problem 400 naming each faulty field
 */
export function changeEmail(before: EmailContent, change: EmailChange): EmailContent {
  const { to_addresses, from_address, subject_prefix } = change
  const faults: FaultyField[] = [
    ...nameFaults(change.name, before.name),
    ...(to_addresses ?? []).flatMap((text, index) => addressFaults(`/to_addresses/${index}`, text)),
    ...repeats(to_addresses ?? []),
    ...(typeof from_address === 'string' ? addressFaults('/from_address', from_address) : []),
    ...(typeof subject_prefix === 'string' ? lineFaults('/subject_prefix', subject_prefix) : []),
  ]
  if (faults.length > 0) throw invalidInput(faults)
  const sender = from_address === undefined ? before.config.from_address : from_address
  const prefix = subject_prefix === undefined ? before.config.subject_prefix : subject_prefix
  return {
    ...changeCommon(before, change),
    config: {
      to_addresses: to_addresses?.map(normalized) ?? before.config.to_addresses,
      ...(typeof sender === 'string' && { from_address: normalized(sender) }),
      // An empty prefix counts as no prefix.
      ...(typeof prefix === 'string' && prefix !== '' && { subject_prefix: prefix }),
    },
  }
}

function normalized(address: string): string {
  return readEmail(address) ?? address
}

function addressFaults(pointer: string, text: string): FaultyField[] {
  return readEmail(text) === undefined ? [{ pointer, why: emailFault }] : []
}

/** Two spellings of one address belong to the same person, who would get each mail twice. */
function repeats(addresses: readonly string[]): FaultyField[] {
  const firstAt = new Map<string, number>()
  return addresses.flatMap((text, index) => {
    const first = firstAt.get(emailKey(text))
    if (first === undefined) firstAt.set(emailKey(text), index)
    const why = `is the same address as \`/to_addresses/${first}\`; name each once`
    return first === undefined ? [] : [{ pointer: `/to_addresses/${index}`, why }]
  })
}

import { type Static, Type } from 'typebox'
import { type EventType, eventTable } from '../events/catalogue.ts'
import { Body, DateTime, Nullable, OneOf, Uuid } from '../http/schema.ts'
import { emailKey, readEmail } from '../kernel/email-address.ts'
import { type FaultyField, invalidInput } from '../kernel/errors.ts'

/** How many recipients a channel has at most. */
const mostRecipients = 50
const longestName = 200
const longestPrefix = 100

/** The events that a channel may name. */
export const filterableEvents = (Object.keys(eventTable) as EventType[]).filter((type) => eventTable[type].filterable)

const Name = Type.String({ minLength: 1, maxLength: longestName, description: 'for people; need not be unique' })
const Recipients = Type.Array(Type.String({ maxLength: 1000 }), {
  minItems: 1,
  maxItems: mostRecipients,
  description: 'each one address and nothing around it, each once',
})
const Sender = Type.String({
  maxLength: 1000,
  description: "one address, in place of the tenant's `notifications.from_address`",
})
const Prefix = Type.String({ maxLength: longestPrefix, description: 'stands before the subject of every mail' })
const Filters = Type.Array(OneOf(filterableEvents), { maxItems: 100, description: 'empty: every event' })

const EmailConfig = Type.Object({
  to_addresses: Type.Array(Type.String()),
  from_address: Type.Optional(Type.String()),
  subject_prefix: Type.Optional(Type.String()),
})

/** A channel as answered. */
export const NotificationChannel = Type.Object(
  {
    id: Uuid,
    name: Type.String(),
    channel_type: OneOf(['email'], { description: 'never changes' }),
    config: EmailConfig,
    event_filters: Type.Array(Type.String()),
    enabled: Type.Boolean(),
    created_at: DateTime,
    updated_at: DateTime,
  },
  { title: 'NotificationChannel' },
)
export type NotificationChannel = Static<typeof NotificationChannel>

/** The body of endpoint 6. */
export const NewEmailChannel = Body({
  name: Name,
  to_addresses: Recipients,
  from_address: Type.Optional(Sender),
  subject_prefix: Type.Optional(Prefix),
  enabled: Type.Optional(Type.Boolean({ description: 'true where it is left out' })),
  event_filters: Type.Optional(Filters),
})
export type NewEmailChannel = Static<typeof NewEmailChannel>

/** What may be changed of a channel: the fields that are sent. Null takes a sender or a prefix away. */
export const EmailChannelChange = Body({
  name: Type.Optional(Name),
  to_addresses: Type.Optional(Recipients),
  from_address: Type.Optional(Nullable(Sender)),
  subject_prefix: Type.Optional(Nullable(Prefix)),
  enabled: Type.Optional(Type.Boolean()),
  event_filters: Type.Optional(Filters),
})
export type EmailChannelChange = Static<typeof EmailChannelChange>

/** What of a channel its owners choose. */
export type ChannelContent = Pick<NotificationChannel, 'name' | 'config' | 'event_filters' | 'enabled'>

/**
 * Reads a new channel.
 * @throws Problem 400 naming each faulty field
 */
export function readNewChannel({ to_addresses, ...input }: NewEmailChannel): ChannelContent {
  const blank = { name: '', config: { to_addresses: [] }, event_filters: [], enabled: true }
  return changeChannel(blank, { ...input, to_addresses })
}

/**
 * The channel with the fields that the change names.
 * @throws Problem 400 naming each faulty field
 */
export function changeChannel(before: ChannelContent, change: EmailChannelChange): ChannelContent {
  const { to_addresses, from_address, subject_prefix } = change
  const faults: FaultyField[] = [
    ...(change.name === undefined ? [] : lineFaults('/name', change.name)),
    ...(to_addresses ?? []).flatMap((text, index) => addressFaults(`/to_addresses/${index}`, text)),
    ...repeats(to_addresses ?? []),
    ...(typeof from_address === 'string' ? addressFaults('/from_address', from_address) : []),
    ...(typeof subject_prefix === 'string' ? lineFaults('/subject_prefix', subject_prefix) : []),
  ]
  if (faults.length > 0) throw invalidInput(faults)
  const sender = from_address === undefined ? before.config.from_address : from_address
  const prefix = subject_prefix === undefined ? before.config.subject_prefix : subject_prefix
  return {
    name: change.name ?? before.name,
    config: {
      to_addresses: to_addresses?.map(normalized) ?? before.config.to_addresses,
      ...(typeof sender === 'string' && { from_address: normalized(sender) }),
      // An empty prefix is none.
      ...(typeof prefix === 'string' && prefix !== '' && { subject_prefix: prefix }),
    },
    event_filters: [...new Set(change.event_filters ?? before.event_filters)],
    enabled: change.enabled ?? before.enabled,
  }
}

function normalized(address: string): string {
  return readEmail(address) ?? address
}

function addressFaults(pointer: string, text: string): FaultyField[] {
  return readEmail(text) === undefined ? [{ pointer, why: 'must be one e-mail address and nothing else' }] : []
}

/** Spellings of one address are the same person's, who would get each mail twice. */
function repeats(addresses: readonly string[]): FaultyField[] {
  const firstAt = new Map<string, number>()
  return addresses.flatMap((text, index) => {
    const first = firstAt.get(emailKey(text))
    if (first === undefined) firstAt.set(emailKey(text), index)
    const why = `is the same address as \`/to_addresses/${first}\`; name each once`
    return first === undefined ? [] : [{ pointer: `/to_addresses/${index}`, why }]
  })
}

// Line ends and other controls, separators, and what changes the direction of the text around it.
const unprintable = /[\p{Cc}\p{Zl}\p{Zp}\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/u

/** What stands in a mail's header is one plain line: no second header, no text that reads otherwise than it is written. */
function lineFaults(pointer: string, text: string): FaultyField[] {
  if (unprintable.test(text)) {
    return [{ pointer, why: 'must be one line, without control characters or changes of direction' }]
  }
  if (text.includes('=?')) return [{ pointer, why: 'must not hold `=?`, which mail readers decode: write it as it is' }]
  const blank = pointer === '/name' && text.trim() === ''
  return blank ? [{ pointer, why: 'must be a name, not spaces alone' }] : []
}

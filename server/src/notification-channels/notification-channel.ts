import { type Static, Type } from 'typebox'
import { recordTag } from '../http/if-match.ts'
import { AnyObject, Body, Nullable, OneOf } from '../http/schema.ts'
import { invalidInput } from '../kernel/errors.ts'
import { ChannelName, Filters } from './channel-fields.ts'
import { EmailChannel, Prefix, Recipients, SavedEmailChannel, Sender } from './email-channel.ts'
import { Headers, Url, WebhookChannel } from './webhook-channel.ts'

/** A channel as in replies. */
export const NotificationChannel = Type.Union([EmailChannel, WebhookChannel], { title: 'NotificationChannel' })
export type NotificationChannel = Static<typeof NotificationChannel>

/** A channel as a change returns it. */
export const SavedNotificationChannel = Type.Union([SavedEmailChannel, WebhookChannel], {
  title: 'SavedNotificationChannel',
})

/**
 * The `ETag` of a channel: not of warnings, of the secret that an answer may show once, nor of the time that passes until the previous
 * one ends.
 */
export function channelTag(channel: NotificationChannel): string {
  return recordTag(channel, 'secret', 'previous_secret_until', 'warnings')
}

/** The fields of a channel of any type, for a change that sends back what it read. */
export const AnyChannel = Type.Object({
  ...EmailChannel.properties,
  ...WebhookChannel.properties,
  channel_type: OneOf(['email', 'webhook']),
  config: AnyObject,
})

export type ChannelType = NotificationChannel['channel_type']

/** The fields that only one type of channel has. */
const ownFields = {
  email: {
    to_addresses: Type.Optional(Recipients),
    from_address: Type.Optional(Nullable(Sender)),
    subject_prefix: Type.Optional(Nullable(Prefix)),
  },
  webhook: { url: Type.Optional(Url), headers: Type.Optional(Nullable(Headers)) },
}

/** A change of a channel: only the fields sent change. Null removes a sender, a prefix or headers. */
export const ChannelChange = Body({
  name: Type.Optional(ChannelName),
  enabled: Type.Optional(Type.Boolean()),
  event_filters: Type.Optional(Filters),
  ...ownFields.email,
  ...ownFields.webhook,
})
export type ChannelChange = Static<typeof ChannelChange>

/** @throws Problem 400 naming each field that a channel of this type does not have */
export function requireOwnFields(channel_type: ChannelType, change: ChannelChange): void {
  const others = Object.entries(ownFields).flatMap(([type, fields]) =>
    type === channel_type ? [] : Object.keys(fields).map((name) => ({ name, type })),
  )
  const faults = others
    .filter(({ name }) => Object.hasOwn(change, name))
    .map(({ name, type }) => ({
      pointer: `/${name}`,
      why: `is a field of a channel of type \`${type}\`; this one is of type \`${channel_type}\``,
    }))
  if (faults.length > 0) throw invalidInput(faults)
}

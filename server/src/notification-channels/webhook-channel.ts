import { type Static, Type } from 'typebox'
import { findHeadersFault, findReceiverFault } from '../egress/receiver-form.ts'
import { Body, Nullable, OneOf } from '../http/schema.ts'
import type { Egress } from '../kernel/context.ts'
import { type FaultyField, invalidInput } from '../kernel/errors.ts'
import { redacted } from '../secrets/sealed-config.ts'
import { blank, type Common, changeCommon, nameFaults, newFields, shownFields } from './channel-fields.ts'

export const Url = Type.String({
  maxLength: 500,
  description:
    'the https address of your receiver, without a query; http, or inside your network, only where `EGRESS_ALLOW` says',
})
export const Headers = Type.Unsafe<Record<string, string>>({
  type: 'object',
  additionalProperties: { type: 'string' },
  description: 'more headers of each message, such as a gateway’s key; write-only, and replaced as a whole',
})

/** A channel that takes events to a receiver of the tenant's own, as answered. */
export const WebhookChannel = Type.Object(
  {
    ...shownFields,
    channel_type: OneOf(['webhook'], { description: 'never changes' }),
    config: Type.Object({
      url: Type.String(),
      headers: Type.Optional(OneOf([redacted], { description: 'there where messages have more headers' })),
    }),
    previous_secret_until: Nullable(
      Type.String({
        format: 'date-time',
        description: 'until when messages carry the signature of the secret before too',
      }),
    ),
  },
  { title: 'WebhookChannel' },
)
export type WebhookChannel = Static<typeof WebhookChannel>

/** The answer where the secret was made: the record, and the secret this once. */
export const WebhookChannelWithSecret = Type.Object(
  {
    ...WebhookChannel.properties,
    secret: Type.String({ description: '`whsec_…`, signs every message: shown now and never again' }),
  },
  { title: 'WebhookChannelWithSecret' },
)
export type WebhookChannelWithSecret = Static<typeof WebhookChannelWithSecret>

export const NewWebhookChannel = Body({ ...newFields, url: Url, headers: Type.Optional(Headers) })
export type NewWebhookChannel = Static<typeof NewWebhookChannel>

/** What of a webhook channel its owners choose and may see. */
export type WebhookContent = Common & Pick<WebhookChannel, 'config'>

/** Null takes the headers away. */
type WebhookChange = Partial<Common> & { url?: string; headers?: Record<string, string> | null }

/**
 * Looks at where messages would be sent, and with what; asks the network perhaps.
 * @throws Problem 400 naming each faulty field
 */
export async function requireReceiver({ url, headers }: WebhookChange, egress: Egress): Promise<void> {
  const faultOf = (pointer: string, why: string | undefined) => (why === undefined ? [] : [{ pointer, why }])
  const faults: FaultyField[] = [
    ...(url === undefined ? [] : faultOf('/url', await findReceiverFault(url, egress))),
    ...(headers === undefined || headers === null ? [] : faultOf('/headers', findHeadersFault(headers))),
  ]
  if (faults.length > 0) throw invalidInput(faults)
}

/** Reads a new channel. @throws Problem 400 naming each faulty field */
export function readNewWebhook(input: NewWebhookChannel): WebhookContent {
  return changeWebhook({ ...blank, config: { url: input.url } }, input)
}

/**
 * The channel with the fields that the change names.
 * @throws Problem 400 naming each faulty field, or where headers that are kept would be sent elsewhere: whoever may write
 * channels could else have them sent to themselves
 */
export function changeWebhook(before: WebhookContent, change: WebhookChange): WebhookContent {
  const faults = nameFaults(change.name)
  const { url = before.config.url } = change
  if (url !== before.config.url && before.config.headers !== undefined && change.headers === undefined) {
    const why = 'is another, and would have the kept `headers` sent elsewhere: send them too, or null to drop them'
    faults.push({ pointer: '/url', why })
  }
  if (faults.length > 0) throw invalidInput(faults)
  const hasHeaders =
    change.headers === undefined ? before.config.headers !== undefined : Object.keys(change.headers ?? {}).length > 0
  return { ...changeCommon(before, change), config: { url, ...(hasHeaders && { headers: redacted }) } }
}

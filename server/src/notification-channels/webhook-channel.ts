import { type Static, Type } from 'typebox'
import { findHeadersFault, findReceiverFault, headerValueForm, maxHeaders } from '../egress/receiver-form.ts'
import { Body, Documented, Nullable, OneOf } from '../http/schema.ts'
import type { Egress } from '../kernel/context.ts'
import { type FaultyField, invalidInput } from '../kernel/errors.ts'
import { redacted } from '../secrets/sealed-config.ts'
import { blank, type Common, changeCommon, nameFaults, newFields, shownFields } from './channel-fields.ts'

export const Url = Type.String({
  maxLength: 500,
  description:
    'the https address of your receiver, without a query; http and internal addresses only when `EGRESS_ALLOW` lists them',
})
export const Headers = Documented(
  Type.Unsafe<Record<string, string>>({
    type: 'object',
    additionalProperties: Documented(Type.String(), { pattern: headerValueForm.source }),
    description:
      'additional headers of each message, such as a gateway’s key, but none that Sallyport sets itself; write-only, and replaced as a whole',
  }),
  { maxProperties: maxHeaders },
)

/** A channel that sends events to a receiver of the tenant, as in replies. */
export const WebhookChannel = Type.Object(
  {
    ...shownFields,
    channel_type: OneOf(['webhook'], { description: 'never changes' }),
    config: Type.Object({
      url: Type.String(),
      headers: Type.Optional(OneOf([redacted], { description: 'present when messages have additional headers' })),
    }),
    previous_secret_until: Nullable(
      Type.String({
        format: 'date-time',
        description: 'until when messages also carry the signature of the previous secret',
      }),
    ),
  },
  { title: 'WebhookChannel' },
)
export type WebhookChannel = Static<typeof WebhookChannel>

/** The reply when a secret is created: the record, and the secret, which is shown only once. */
export const WebhookChannelWithSecret = Type.Object(
  {
    ...WebhookChannel.properties,
    secret: Type.String({ description: '`whsec_…`, signs every message: shown only now' }),
  },
  { title: 'WebhookChannelWithSecret' },
)
export type WebhookChannelWithSecret = Static<typeof WebhookChannelWithSecret>

export const NewWebhookChannel = Body({ ...newFields, url: Url, headers: Type.Optional(Headers) })
export type NewWebhookChannel = Static<typeof NewWebhookChannel>

/** The fields of a webhook channel that its owners choose and may see. */
export type WebhookContent = Common & Pick<WebhookChannel, 'config'>

/** Null removes the headers. */
type WebhookChange = Partial<Common> & { url?: string; headers?: Record<string, string> | null }

/**
 * Checks the address and the headers of messages; may use the network.
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
 * @throws Problem 400 naming each faulty field, or when stored headers would be sent to another address: otherwise a user who
 * may write channels could have the headers sent to themselves
 */
export function changeWebhook(before: WebhookContent, change: WebhookChange): WebhookContent {
  const faults = nameFaults(change.name, before.name)
  const { url = before.config.url } = change
  if (url !== before.config.url && before.config.headers !== undefined && change.headers === undefined) {
    const why = 'differs, and the stored `headers` would be sent to it: send `headers` too, or null to remove them'
    faults.push({ pointer: '/url', why })
  }
  if (faults.length > 0) throw invalidInput(faults)
  const hasHeaders =
    change.headers === undefined ? before.config.headers !== undefined : Object.keys(change.headers ?? {}).length > 0
  return { ...changeCommon(before, change), config: { url, ...(hasHeaders && { headers: redacted }) } }
}

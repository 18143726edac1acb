import { type Static, Type } from 'typebox'
import { AuditEvent } from '../../audit/audit-event.ts'
import type { Outgoing } from '../../http/outgoing.ts'
import { OneOf, Uuid } from '../../http/schema.ts'
import type { Mode } from '../../tenants/mode.ts'
import type { DeliveredEvent } from '../carrier.ts'

const { type, at, ...entry } = AuditEvent.properties

/**
 * The message of a webhook channel: an entry of the audit log, in the envelope of Standard Webhooks. Fields may be added; none
 * is renamed, moved or removed. It has no title, because a generator of clients leaves out a component that no path uses.
 */
const EventMessage = Type.Object({
  type,
  timestamp: { ...at, description: 'the time of the event, not of the sending' },
  data: Type.Object({
    ...entry,
    tenant_id: Uuid,
    mode: OneOf(['rehearsal', 'live'] as const, {
      description: 'of the tenant, at the time of the event: in rehearsal, what no provisioner serves is simulated',
    }),
  }),
})
type EventMessage = Static<typeof EventMessage>

/** The message for the reference. */
export const eventMessage: Outgoing = {
  summary: 'An event, sent to the receiver of a webhook channel',
  headers: {
    'webhook-id': 'the same in every attempt to send this message',
    'webhook-timestamp': 'seconds since 1970: the time of this attempt',
    'webhook-signature':
      '`v1,` and the base64 of HMAC-SHA256 over `id.timestamp.body`; several are separated by spaces',
  },
  body: EventMessage,
  answers: {
    '2XX': 'delivered',
    410: 'the receiver is permanently gone: its channel is switched off',
    429: 'the receiver is overloaded: all messages wait, until `Retry-After` when present; the same for 502, 503 and 504',
    default: 'this message is retried for 28 hours',
  },
}

/** The message of an event: the same in every attempt. */
export function messageOf(tenant_id: string, mode: Mode, event: DeliveredEvent): EventMessage {
  const { id, actor_kind, actor_id, api_key_id, subject_type, subject_id, data, request_id } = event
  return {
    type: event.type,
    timestamp: event.at,
    data: {
      id,
      tenant_id,
      mode,
      actor: { kind: actor_kind, id: actor_id, api_key_id },
      subject: { type: subject_type, id: subject_id },
      data,
      request_id,
    },
  }
}

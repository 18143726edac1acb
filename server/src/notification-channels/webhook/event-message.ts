import { type Static, Type } from 'typebox'
import { AuditEvent } from '../../audit/audit-event.ts'
import { Uuid } from '../../http/schema.ts'
import type { ToldEvent } from '../carrier.ts'

const { type, at, ...entry } = AuditEvent.properties

/**
 * What a webhook channel posts: an entry of the audit log, in the envelope of Standard Webhooks. Fields may be added; none is
 * renamed, moved or taken away.
 */
export const EventMessage = Type.Object(
  {
    type,
    timestamp: { ...at, description: 'when it happened, not when it is sent' },
    data: Type.Object({ ...entry, tenant_id: Uuid }),
  },
  { title: 'EventMessage' },
)
export type EventMessage = Static<typeof EventMessage>

/** The message of an event: the same in every attempt. */
export function messageOf(tenant_id: string, event: ToldEvent): EventMessage {
  const { id, actor_kind, actor_id, api_key_id, subject_type, subject_id, data, request_id } = event
  return {
    type: event.type,
    timestamp: event.at,
    data: {
      id,
      tenant_id,
      actor: { kind: actor_kind, id: actor_id, api_key_id },
      subject: { type: subject_type, id: subject_id },
      data,
      request_id,
    },
  }
}

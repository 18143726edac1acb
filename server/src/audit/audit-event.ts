import { type Static, type TSchema, Type } from 'typebox'
import { type EventType, eventTable } from '../events/catalogue.ts'
import { AnyObject, DateTime, Nullable, OneOf, Uuid } from '../http/schema.ts'

const eventTypes = Object.keys(eventTable) as EventType[]

/** An entry of the audit log: the event, its time, actor and subject. It holds ids and plain facts, never names. */
export const AuditEvent = Type.Object(
  {
    id: Uuid,
    type: OneOf(eventTypes),
    at: DateTime,
    actor: Type.Object({
      kind: OneOf(['user', 'api_key', 'operator', 'system']),
      id: Nullable(Uuid),
      api_key_id: Nullable(Uuid),
    }),
    subject: Type.Object({ type: Type.String(), id: Type.String() }),
    data: AnyObject,
    request_id: Type.String({ description: 'the id of the request in the service’s log' }),
  },
  { title: 'AuditEvent' },
)
export type AuditEvent = Static<typeof AuditEvent>

/** The filters of both the list and the export. */
export const auditFilters = {
  type: Type.Optional(OneOf(eventTypes)),
  actor: Type.Optional(Type.String({ format: 'uuid', description: 'a user’s id; includes events by the user’s keys' })),
  subject: Type.Optional(Type.String({ maxLength: 200, description: 'the id of the event’s subject' })),
  from: Type.Optional(Type.String({ format: 'date-time', description: 'at this moment or later' })),
  to: Type.Optional(Type.String({ format: 'date-time', description: 'before this moment' })),
} satisfies Record<string, TSchema>

export type AuditFilters = {
  type?: EventType
  actor?: string
  subject?: string
  from?: string
  to?: string
}

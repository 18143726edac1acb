import { type Static, type TSchema, Type } from 'typebox'
import { type EventType, eventTable } from '../events/catalogue.ts'
import { AnyObject, DateTime, Nullable, OneOf, Uuid } from '../http/schema.ts'

const eventTypes = Object.keys(eventTable) as EventType[]

/** An entry of the audit log: what happened, when, by whom, to what. Ids and plain facts, never names. */
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
    request_id: Type.String({ description: 'leads to the log' }),
  },
  { title: 'AuditEvent' },
)
export type AuditEvent = Static<typeof AuditEvent>

/** What both the list and the export can be narrowed to. */
export const auditFilters = {
  type: Type.Optional(OneOf(eventTypes)),
  actor: Type.Optional(Type.String({ format: 'uuid', description: 'a user’s id, also when a key of theirs did it' })),
  subject: Type.Optional(Type.String({ maxLength: 200, description: 'the id of what it happened to' })),
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

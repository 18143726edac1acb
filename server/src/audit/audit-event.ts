import { type Static, type TSchema, Type } from 'typebox'
import { type EventType, eventTable } from '../events/catalogue.ts'
import { readUsers, SeveralOf, SeveralTexts, SeveralUsers } from '../http/list-query.ts'
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
  type: Type.Optional(SeveralOf(eventTypes)),
  actor: Type.Optional({ ...SeveralUsers, description: 'ids of users, or `me`; includes events by the users’ keys' }),
  subject: Type.Optional(SeveralTexts(200, 'ids of the events’ subjects')),
  from: Type.Optional(Type.String({ format: 'date-time', description: 'at this moment or later' })),
  to: Type.Optional(Type.String({ format: 'date-time', description: 'before this moment' })),
} satisfies Record<string, TSchema>

/** Several values of a filter: an event has one of them. */
export type AuditFilters = {
  type?: readonly EventType[]
  actor?: readonly string[]
  subject?: readonly string[]
  from?: string
  to?: string
}

/** `caller` is whom `me` names. */
export function readAuditFilters({ actor, ...filters }: AuditFilters, caller: string | null): AuditFilters {
  return { ...filters, ...(actor !== undefined && { actor: readUsers(actor, caller) }) }
}

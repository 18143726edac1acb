import { Type } from 'typebox'
import { operation } from '../http/operation.ts'
import type { Tx } from '../kernel/context.ts'
import { invalidInput } from '../kernel/errors.ts'
import { AuditEvent, type AuditFilters, auditFilters, readAuditFilters } from './audit-event.ts'
import { findPlace, followEvents } from './audit-store.ts'

/** Events fetched at once. An export of any length holds no more than these in memory. */
const batchSize = 500

const after = Type.String({
  format: 'uuid',
  description: 'the id of the last event of an earlier export: continues after it, in the order of the commits',
})

const notFound =
  'is not the id of an event in this audit log; if the event was dropped, begin again with `from`, the time of that event'

export const exportAuditEvents = operation({
  method: 'GET',
  path: '/v1/audit-events/export',
  summary: 'Export the audit log in the order of the commits, one event per line (NDJSON); `after` follows it',
  credential: 'any',
  scope: 'audit:read',
  query: Type.Object({ ...auditFilters, after: Type.Optional(after) }, { additionalProperties: false }),
  replies: { 200: AuditEvent },
  streams: 'application/x-ndjson',
  errors: [],
  // Before the stream begins, so that it is a 400.
  async prepare({ tx }, { query }) {
    if (query.after === undefined || (await findPlace(tx, query.after)) !== undefined) return
    throw invalidInput([{ pointer: 'after', why: notFound }])
  },
  run: ({ tx, actor }, { query: { after, ...filters } }) =>
    allEvents(tx, readAuditFilters(filters, actor.user_id), after),
})

async function* allEvents(tx: Tx, filters: AuditFilters, after: string | undefined): AsyncGenerator<AuditEvent> {
  let reached = after === undefined ? undefined : await findPlace(tx, after)
  do {
    const { rows, next } = await followEvents(tx, filters, { limit: batchSize, after: reached })
    yield* rows
    reached = next
  } while (reached !== undefined)
}

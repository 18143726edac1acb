import { Type } from 'typebox'
import { operation } from '../http/operation.ts'
import type { Tx } from '../kernel/context.ts'
import { AuditEvent, type AuditFilters, auditFilters } from './audit-event.ts'
import { listEvents } from './audit-store.ts'

/** Events fetched at once. An export of any length holds no more than these in memory. */
const batchSize = 500

export const exportAuditEvents = operation({
  method: 'GET',
  path: '/v1/audit-events/export',
  summary: 'Export the audit log, oldest first, one event per line (NDJSON)',
  credential: 'any',
  scope: 'audit:read',
  query: Type.Object(auditFilters, { additionalProperties: false }),
  replies: { 200: AuditEvent },
  streams: 'application/x-ndjson',
  errors: [],
  run: (ctx, { query }) => allEvents(ctx.tx, query),
})

async function* allEvents(tx: Tx, filters: AuditFilters): AsyncGenerator<AuditEvent> {
  let after: string | undefined
  for (;;) {
    const placed = await listEvents(tx, filters, 'oldest first', after, batchSize)
    for (const { event } of placed) yield event
    if (placed.length < batchSize) return
    after = placed.at(-1)?.seq
  }
}

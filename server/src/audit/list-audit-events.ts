import { Type } from 'typebox'
import { operation } from '../http/operation.ts'
import { PageOf, pageQuery } from '../http/schema.ts'
import { AuditEvent, auditFilters } from './audit-event.ts'
import { listEvents } from './audit-store.ts'

export const listAuditEvents = operation({
  method: 'GET',
  path: '/v1/audit-events',
  summary: 'Read the audit log, newest first',
  credential: 'any',
  scope: 'audit:read',
  query: Type.Object({ ...pageQuery, ...auditFilters }, { additionalProperties: false }),
  replies: { 200: PageOf(AuditEvent) },
  errors: [],
  async run(ctx, { query, page }) {
    const { limit: _limit, cursor: _cursor, ...filters } = query
    const placed = await listEvents(ctx.tx, filters, page.after?.[0], page.limit + 1)
    const { data, ...rest } = page.of(placed, ({ place }) => [place.seq])
    return { ...rest, data: data.map(({ event }) => event) }
  },
})

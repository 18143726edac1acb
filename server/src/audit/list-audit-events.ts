import { Type } from 'typebox'
import { operation } from '../http/operation.ts'
import { PageOf, pageQuery } from '../http/schema.ts'
import { AuditEvent, auditFilters, readAuditFilters } from './audit-event.ts'
import { listEventsPage } from './audit-store.ts'

export const listAuditEvents = operation({
  method: 'GET',
  path: '/v1/audit-events',
  summary: 'Read the audit log, newest first',
  credential: 'any',
  scope: 'audit:read',
  query: Type.Object({ ...pageQuery, ...auditFilters }, { additionalProperties: false }),
  replies: { 200: PageOf(AuditEvent) },
  errors: [],
  run: async ({ tx, actor }, { query, page }) =>
    page.reply(await listEventsPage(tx, readAuditFilters(query, actor.user_id), page)),
})

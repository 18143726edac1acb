import type { AuditFilters } from '../../src/audit/audit-event.ts'
import { followEvents, listEventsPage } from '../../src/audit/audit-store.ts'
import { testDatabase } from '../support/database.ts'
import { manyRecords, type Pages, requireFlat } from '../support/flat-lists.ts'
import { seedManyEvents } from '../support/many-events.ts'

const db = await testDatabase()
const { tenant_id, actors } = await seedManyEvents(db.asSuperuser, manyRecords)
await seedManyEvents(db.asSuperuser, 2_000)
const [most = '', , some = '', , , , , , , old = ''] = actors

const listed =
  (filters: AuditFilters): Pages =>
  (tx, page) =>
    listEventsPage(tx, filters, page)
const exported =
  (filters: AuditFilters): Pages =>
  (tx, page) =>
    followEvents(tx, filters, page)

const single: Record<string, Pages> = {
  'all events': listed({}),
  'events of a common type': listed({ type: ['request.created'] }),
  'events of a rare type': listed({ type: ['policy.created'] }),
  'events of a type that is only old': listed({ type: ['role.created'] }),
  'events of a type that there is not': listed({ type: ['user.created'] }),
  'events of several types': listed({ type: ['policy.created', 'role.created', 'user.created'] }),
  'events by the actor who did most': listed({ actor: [most] }),
  'events by an actor who did only the oldest': listed({ actor: [old] }),
  'events by several actors': listed({ actor: [most, some, old] }),
  'events about a common subject': listed({ subject: ['subject-0'] }),
  'events about a rare subject': listed({ subject: ['subject-4711'] }),
  'events about several subjects': listed({ subject: ['subject-4711', 'subject-4712', 'nothing'] }),
  'events before an early moment': listed({ to: '2024-01-05T00:00:00Z' }),
  'events of a day': listed({ from: '2024-03-01T00:00:00Z', to: '2024-03-02T00:00:00Z' }),
  'events from a moment on': listed({ from: '2024-03-01T00:00:00Z' }),
  'events before all': listed({ to: '2020-01-01T00:00:00Z' }),
  'events after all': listed({ from: '2090-01-01T00:00:00Z' }),
  'events of one type of a day': listed({
    type: ['request.created'],
    from: '2024-03-01T00:00:00Z',
    to: '2024-03-02T00:00:00Z',
  }),
  'an export of everything': exported({}),
}

const combined: Record<string, Pages> = {
  'a rare type by an actor who did only the oldest': listed({ type: ['policy.created'], actor: [old] }),
  'several types by several actors': listed({ type: ['policy.created', 'role.created'], actor: [some, old] }),
  'several types of a day': listed({ type: ['policy.created', 'user.created'], from: '2024-03-01T00:00:00Z' }),
  'a rare subject by one actor': listed({ subject: ['subject-4711'], actor: [most] }),
  'an export of a rare type': exported({ type: ['policy.created'] }),
  'an export of a type that there is not': exported({ type: ['user.created'] }),
  'an export of a late moment': exported({ from: '2024-11-01T00:00:00Z' }),
  'an export about a rare subject': exported({ subject: ['subject-4711'] }),
}

requireFlat(db, tenant_id, { single, combined })

import { readWaiting } from '../../src/requests/inbox-store.ts'
import { listRequestsPage, type RequestFilters } from '../../src/requests/request-list-store.ts'
import { testDatabase } from '../support/database.ts'
import { manyRecords, type Pages, requireFlat } from '../support/flat-lists.ts'
import { seedManyRequests } from '../support/many-requests.ts'

const db = await testDatabase()
const { tenant_id, users } = await seedManyRequests(db.asSuperuser, manyRecords)
await seedManyRequests(db.asSuperuser, 1_000)
const [often = '', , seldom = '', , , , , , , recent = ''] = users

const requests =
  (filters: RequestFilters): Pages =>
  (tx, page) =>
    listRequestsPage(tx, filters, page)

const single: Record<string, Pages> = {
  'all requests': requests({}),
  'all requests, the oldest first': requests({ sort: 'created_at' }),
  'requests of one user who made most': requests({ requester_id: [often] }),
  'requests of one user who made few': requests({ requester_id: [seldom] }),
  'the oldest requests of a user who made only recent ones': requests({ requester_id: [recent], sort: 'created_at' }),
  'requests of several users': requests({ requester_id: users.slice(0, 5) }),
  'pending requests': requests({ status: ['pending'] }),
  'expired requests, which are all old': requests({ status: ['expired'] }),
  'requests of several rare statuses': requests({ status: ['expired', 'denied', 'pending'] }),
  'requests of a rare type': requests({ resource_type: ['cloud_db_instance'] }),
  'requests of a type that no request has': requests({ resource_type: ['cloud_storage_bucket'] }),
  'requests for one resource': requests({ resource_id: '000000000042' }),
  emergencies: requests({ break_glass: true }),
  'requests before a day': requests({ created_before: '2024-02-01T00:00:00Z' }),
  'requests from a day on, the oldest first': requests({ created_after: '2024-03-01T00:00:00Z', sort: 'created_at' }),
  'one user’s requests of a day': requests({
    requester_id: [often],
    created_after: '2024-02-01T00:00:00Z',
    created_before: '2024-02-02T00:00:00Z',
  }),
  'a word that few requests have': requests({ q: '000000000042' }),
  'a beginning that few words have': requests({ q: '00000000004' }),
  'a word that no request has': requests({ q: 'nowhere' }),
  'a word that every request has': requests({ q: 'because' }),
}

/** 100 requests, and for each what policy is asked about its requester and its approver. */
const inbox: Pages = async (tx, { after }) => {
  const waiting = await readWaiting(tx, seldom, {}, { after, count: 100 })
  return { rows: waiting, next: waiting.at(-1)?.key }
}

const combined: Record<string, Pages> = {
  'the inbox': inbox,
  'emergencies of one user': requests({ break_glass: true, requester_id: [seldom] }),
  'requests that are no emergencies': requests({ break_glass: false }),
  'denied requests of several users': requests({ status: ['denied'], requester_id: [seldom, recent] }),
  'several statuses of several users': requests({ status: ['denied', 'expired'], requester_id: [seldom, recent] }),
  'pending requests for a database': requests({ status: ['pending'], resource_type: ['cloud_db_instance'] }),
  'two words of which one is in every request': requests({ q: 'because 000000000042' }),
  'a word and a status that never meet': requests({
    q: 'because',
    status: ['expired'],
    resource_type: ['cloud_db_instance'],
  }),
  'a word among the requests of one user': requests({ q: 'inc', requester_id: [often] }),
  'a word that none of a user’s requests have': requests({ q: 'nowhere', requester_id: [often] }),
}

requireFlat(db, tenant_id, { single, combined })

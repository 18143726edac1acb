import { readApproverView, readWaiting } from '../../src/requests/inbox-store.ts'
import { countRequestsListed, listRequestsPage, type RequestFilters } from '../../src/requests/request-list-store.ts'
import { testDatabase } from '../support/database.ts'
import { asPage, countsOf, eachOf, manyRecords, type Pages, requireFlat } from '../support/flat-lists.ts'
import { seedManyRequests } from '../support/many-requests.ts'

const db = await testDatabase()
const { tenant_id, users } = await seedManyRequests(db.asSuperuser, manyRecords)
await seedManyRequests(db.asSuperuser, 1_000)
const [often = '', , seldom = '', , , , , , , recent = ''] = users
const [decider = '', former = ''] = users.slice(499)

const requests =
  (filters: RequestFilters): Pages =>
  (tx, page) =>
    listRequestsPage(tx, filters, page)

const single: Record<string, RequestFilters> = {
  'all requests': {},
  'all requests, the oldest first': { sort: 'created_at' },
  'requests of one user who made most': { requester_id: [often] },
  'requests of one user who made few': { requester_id: [seldom] },
  'the oldest requests of a user who made only recent ones': { requester_id: [recent], sort: 'created_at' },
  'requests of several users': { requester_id: users.slice(0, 5) },
  'requests that a user decided, who decided many': { decided_by: [decider] },
  'the newest requests that a user decided, who decided old ones alone': { decided_by: [former] },
  'requests that a user decided from a day on': { decided_by: [decider], created_after: '2024-03-01T00:00:00Z' },
  'requests that a user decided, who decided none': { decided_by: [seldom], sort: 'created_at' },
  'requests that one of several users decided': { decided_by: [decider, former] },
  'pending requests': { status: ['pending'] },
  'expired requests, which are all old': { status: ['expired'] },
  'requests of several rare statuses': { status: ['expired', 'denied', 'pending'] },
  'requests of a rare type': { resource_type: ['cloud_db_instance'] },
  'requests of a type that no request has': { resource_type: ['cloud_storage_bucket'] },
  'requests for one resource': { resource_id: '000000000042' },
  emergencies: { break_glass: true },
  'requests before a day': { created_before: '2024-02-01T00:00:00Z' },
  'requests from a day on, the oldest first': { created_after: '2024-03-01T00:00:00Z', sort: 'created_at' },
  'one user’s requests of a day': {
    requester_id: [often],
    created_after: '2024-02-01T00:00:00Z',
    created_before: '2024-02-02T00:00:00Z',
  },
  'a word that few requests have': { q: '000000000042' },
  'a beginning that few words have': { q: '00000000004' },
  'a word that no request has': { q: 'nowhere' },
  'a word that every request has': { q: 'because' },
}

/** 100 requests, and for each what policy is asked about its requester and its approver. */
const inbox: Pages = async (tx, { after }) => {
  const waiting = await readWaiting(tx, seldom, {}, { after, count: 100 })
  return { rows: waiting, next: waiting.at(-1)?.key }
}

const combined: Record<string, RequestFilters> = {
  'emergencies of one user': { break_glass: true, requester_id: [seldom] },
  'one user’s requests that another decided': { requester_id: [often], decided_by: [former] },
  'denied requests that a user decided': { decided_by: [decider], status: ['denied'] },
  'a word among the requests that a user decided': { q: 'because', decided_by: [former] },
  'requests that are no emergencies': { break_glass: false },
  'denied requests of several users': { status: ['denied'], requester_id: [seldom, recent] },
  'several statuses of several users': { status: ['denied', 'expired'], requester_id: [seldom, recent] },
  'pending requests for a database': { status: ['pending'], resource_type: ['cloud_db_instance'] },
  'two words of which one is in every request': { q: 'because 000000000042' },
  'a word and a status that never meet': {
    q: 'because',
    status: ['expired'],
    resource_type: ['cloud_db_instance'],
  },
  'a word among the requests of one user': { q: 'inc', requester_id: [often] },
  'a word that none of a user’s requests have': { q: 'nowhere', requester_id: [often] },
}

/** What an approver sees of the requester: of one who made most requests, and of one whose first request it is. */
async function approverView(requester_id: string, which: 'first' | 'last'): Promise<Pages> {
  const [request] = await db.asSuperuser<{ id: string }>(
    `select id from access_request where tenant_id = $1 and requester_id = $2
      order by created_at ${which === 'first' ? 'asc' : 'desc'} limit 1`,
    [tenant_id, requester_id],
  )
  return asPage((tx) => readApproverView(tx, { id: request?.id ?? '', requester_id }))
}

requireFlat(db, tenant_id, {
  single: eachOf(single, requests),
  several: {
    'what a user asked for before, who made most': await approverView(often, 'last'),
    'what a user asked for before, who made recent ones alone': await approverView(recent, 'last'),
    'what a user asked for before, who asked for nothing': await approverView(recent, 'first'),
  },
  combined: { 'the inbox': inbox, ...eachOf(combined, requests) },
  counts: {
    single: countsOf(single, countRequestsListed),
    combined: countsOf(combined, countRequestsListed),
  },
})

import { countGrantsListed, type GrantFilters, listGrantsPage } from '../../src/grants/grant-list-store.ts'
import { testDatabase } from '../support/database.ts'
import { countsOf, eachOf, manyRecords, type Pages, requireFlat } from '../support/flat-lists.ts'
import { seedManyListedGrants } from '../support/many-listed-grants.ts'

const db = await testDatabase()
const { tenant_id, users, provisioners } = await seedManyListedGrants(db.asSuperuser, manyRecords)
await seedManyListedGrants(db.asSuperuser, 1_000)
const [often = '', , seldom = '', , , , , , , recent = ''] = users
const [many = '', few = ''] = provisioners
const [of_request] = await db.asSuperuser<{ id: string }>(
  'select request_id as id from access_grant where tenant_id = $1 order by created_at offset 100 limit 1',
  [tenant_id],
)

const grants =
  (filters: GrantFilters): Pages =>
  (tx, page) =>
    listGrantsPage(tx, filters, page)

/** Where nearly all active grants end later. */
const early = '2024-01-02T00:00:00Z'

const single: Record<string, GrantFilters> = {
  'all grants': {},
  'all grants, the oldest first': { sort: 'created_at' },
  'grants of a user who holds most': { user_id: [often] },
  'grants of a user who holds few': { user_id: [seldom] },
  'the oldest grants of a user who holds only recent ones': { user_id: [recent], sort: 'created_at' },
  'grants of a request': { request_id: of_request?.id ?? '' },
  'pending grants': { status: ['pending'] },
  'active grants': { status: ['active'] },
  'the oldest active grants': { status: ['active'], sort: 'created_at' },
  'expired grants': { status: ['expired'] },
  'revoked grants, which are all old': { status: ['revoked'] },
  'grants whose access is being given': { provisioning_status: ['attempting'] },
  'grants whose access is there': { provisioning_status: ['successful'] },
  'grants whose access was there before': { provisioning_status: ['not_attempted'] },
  'grants whose access is gone': { provisioning_status: ['deprovisioned'] },
  'grants whose access is being revoked, which are all old': { provisioning_status: ['deprovisioning'] },
  'grants whose access could not be revoked': { provisioning_status: ['deprovisioning_failed'] },
  'grants of a usual type': { resource_type: ['cloud_account'] },
  'grants of a rare type': { resource_type: ['cloud_db_instance'] },
  'grants of a type that no grant has': { resource_type: ['cloud_storage_bucket'] },
  'grants for one resource': { resource_id: '000000000042' },
  'grants of a usual action': { action: 'ReadOnly' },
  'grants of a rare action': { action: 'Administrator' },
  'grants of a former action': { action: 'Former' },
  'grants of a provisioner with many': { provisioner_id: [many] },
  'grants of a provisioner with few': { provisioner_id: [few] },
  'grants in the sandbox': { provisioner_id: ['sandbox'] },
  'drifted grants': { drifted: true },
  'the oldest drifted grants': { drifted: true, sort: 'created_at' },
  'grants by their end': { sort: 'expires_at' },
  'grants by their end, the last first': { sort: '-expires_at' },
  'grants that end before a moment': { ends_before: '2024-03-20T00:00:00Z' },
  'grants that end before a moment without such grants': { ends_before: early },
  'grants of a user by their end': { user_id: [often], sort: 'expires_at' },
  'grants of a user that end before a moment': { user_id: [recent], ends_before: '2024-03-20T00:00:00Z' },
  'grants before a day': { created_before: '2024-02-01T00:00:00Z' },
  'grants from a day on, the oldest first': { created_after: '2024-02-01T00:00:00Z', sort: 'created_at' },
}

/** Read several ranges of an index, or words beside the grants. */
const several: Record<string, GrantFilters> = {
  'a word that few grants have': { q: '000000000042' },
  'a beginning that few words have': { q: '00000000004' },
  'a word that no grant has': { q: 'nowhere' },
  'a word that nearly every grant has': { q: 'readonly' },
  'grants of several users': { user_id: users.slice(0, 5) },
  'grants of several users by their end': { user_id: users.slice(0, 5), sort: 'expires_at' },
  'grants of several statuses': { status: ['pending', 'revoked', 'failed'] },
  'grants that need attention': { provisioning_status: ['failed', 'deprovisioning_failed', 'deprovisioning'] },
  'grants of several types': { resource_type: ['cloud_db_instance', 'cloud_storage_bucket'] },
  'grants of several provisioners': { provisioner_id: [few, 'sandbox'] },
}

const combined: Record<string, GrantFilters> = {
  'active grants of a rare type': { status: ['active'], resource_type: ['cloud_db_instance'] },
  'active grants of a rare action in the sandbox': {
    ...{ status: ['active'], action: 'Administrator' },
    provisioner_id: ['sandbox'],
  },
  'expired grants of a former action': { status: ['expired'], action: 'Former' },
  'active grants for one resource': { status: ['active'], resource_id: '000000000042' },
  'active grants whose access was there before': { status: ['active'], provisioning_status: ['not_attempted'] },
  'pending grants of one user': { status: ['pending'], user_id: [often] },
  'active grants of a user who holds none': { status: ['active'], user_id: [often] },
  'several states of several users': { status: ['failed', 'revoked'], user_id: [seldom, recent] },
  'failed grants of a request': { request_id: of_request?.id ?? '', status: ['failed'] },
  'words in the grants of a request': { request_id: of_request?.id ?? '', q: 'read' },
  'a user’s drifted grants': { drifted: true, user_id: [often] },
  'active grants that did not drift': { drifted: false, status: ['active'] },
  'drifted grants by their end': { drifted: true, sort: 'expires_at' },
  'rare grants by their end': { action: 'Administrator', sort: '-expires_at' },
  'failed grants by their end, of which there are none': { status: ['failed'], sort: 'expires_at' },
  'the newest grants that end before a moment without such grants': { ends_before: early, sort: '-created_at' },
  'grants of a provisioner of a month by their end': {
    ...{ provisioner_id: [few], created_after: '2024-02-01T00:00:00Z' },
    ...{ created_before: '2024-03-01T00:00:00Z', sort: 'expires_at' },
  },
  'two words of which nearly every grant has one': { q: 'readonly 000000000042' },
  'a word and a status that never meet': { q: 'former', status: ['active'] },
  'a word by the end': { q: 'readonly', sort: 'expires_at' },
  'a word among the grants of one user': { q: '0000000000', user_id: [often] },
  'a word that none of a user’s grants have': { q: 'nowhere', user_id: [often] },
}

requireFlat(db, tenant_id, {
  single: eachOf(single, grants),
  several: eachOf(several, grants),
  combined: eachOf(combined, grants),
  counts: {
    single: countsOf({ ...single, ...several }, countGrantsListed),
    combined: countsOf(combined, countGrantsListed),
  },
})

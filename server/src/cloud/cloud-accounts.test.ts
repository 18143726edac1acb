import assert from 'node:assert/strict'
import { beforeEach, test } from 'node:test'
import { testDatabase } from '../../test/support/database.ts'
import { type Caller, sliceServer } from '../../test/support/slice-server.ts'
import { sql } from '../db/sql.ts'
import { newId } from '../kernel/id.ts'
import {
  type AccountForPolicy,
  accountsForPolicyAsJson,
  listAccountIdsUnder,
  readAccountsForPolicy,
} from './cloud-account-store.ts'
import { listCloudAccounts } from './list-cloud-accounts.ts'
import { upsertCloudAccounts } from './upsert-cloud-accounts.ts'

const { database, asSuperuser } = await testDatabase()
const call = await sliceServer(database, { listCloudAccounts, upsertCloudAccounts })

type Listed = { id: string; name: string; account_id: string; metadata: object; rank: number }

const scopes = ['cloud_accounts:read', 'cloud_accounts:write']
let caller: Caller

async function newTenant(): Promise<Caller> {
  const made = { tenant_id: newId(), user_id: newId(), scopes, kind: 'api_key' } as const
  await asSuperuser('insert into tenant (id, name) values ($1, $2)', [made.tenant_id, 'Acme'])
  return made
}

beforeEach(async () => {
  caller = await newTenant()
})

const upsert = (resources: unknown, as = caller) => call(as, 'PUT', '/v1/cloud/accounts', { resources })

async function list(query = '', as = caller): Promise<Listed[]> {
  const { status, body } = await call(as, 'GET', `/v1/cloud/accounts${query}`)
  assert.equal(status, 200)
  return body.data as Listed[]
}

const eventsOf = ({ tenant_id }: Caller) =>
  asSuperuser('select type, actor_kind, subject_type, subject_id, data from event where tenant_id = $1', [tenant_id])

const changed = (...ids: string[]) => ({ changed: ids, changed_count: ids.length })

test('entries are inserted, then updated, each time with a count and an event', async () => {
  const first = { id: 'a', name: 'Alpha', account_id: '111111111111', metadata: { env: 'dev', n: [1, null] }, rank: 2 }
  assert.deepEqual(await upsert([first, { id: 'b', account_id: '2' }]), { status: 200, body: { upserted: 2 } })
  assert.deepEqual(await upsert([{ ...first, rank: -1, metadata: {} }]), { status: 200, body: { upserted: 1 } })
  assert.deepEqual(await list(), [
    { ...first, rank: -1, metadata: {} },
    { id: 'b', name: '2', account_id: '2', metadata: {}, rank: 0 },
  ])
  const expected = { type: 'cloud_accounts.updated', actor_kind: 'api_key', subject_type: 'tenant' }
  assert.deepEqual(await eventsOf(caller), [
    { ...expected, subject_id: caller.tenant_id, data: { upserted: 2, ids: ['a', 'b'], ...changed('a', 'b') } },
    { ...expected, subject_id: caller.tenant_id, data: { upserted: 1, ids: ['a'], ...changed('a') } },
  ])
})

test('the event names apart the entries in which something changed that rules may read, at most 100', async () => {
  const entry = (n: number, more: object = {}) => ({
    id: `e${String(n).padStart(3, '0')}`,
    name: 'Alpha',
    account_id: '111111111111',
    metadata: { env: 'dev', organizational_unit_ids: ['ou-ab12-12345678'] },
    rank: n,
    ...more,
  })
  const all = Array.from({ length: 120 }, (_, n) => entry(n))
  const last = async () => (await eventsOf(caller)).at(-1)?.data as Record<string, unknown>
  await upsert(all)
  const { ids, changed: first, changed_count } = await last()
  assert.deepEqual([ids, changed_count], [first, 120])
  await upsert([...all.slice(0, 110), entry(110, { metadata: { env: 'prod' } }), entry(111, { rank: -1 })])
  const { changed: few, changed_count: count } = await last()
  assert.deepEqual([few, count], [['e110', 'e111'], 2])
  await upsert(all.slice(0, 110))
  assert.deepEqual([(await last()).changed, (await last()).upserted], [[], 110])
})

test('an empty list changes nothing and emits no event', async () => {
  assert.deepEqual((await upsert([])).body, { upserted: 0 })
  assert.deepEqual(await eventsOf(caller), [])
})

test('I1 5,000 entries are accepted in one call, one more is refused', async () => {
  const entries = Array.from({ length: 5_001 }, (_, index) => ({ id: `a${index}`, account_id: '123456789012' }))
  assert.equal((await upsert(entries)).status, 400)
  assert.deepEqual(await list(), [])
  assert.deepEqual((await upsert(entries.slice(1))).body, { upserted: 5_000 })
})

test('I1 a body over 4 MiB is refused, one over 1 MiB is accepted', async () => {
  const entries = (count: number) =>
    Array.from({ length: count }, (_, index) => ({
      id: `${index}`,
      account_id: '1',
      metadata: { n: 'x'.repeat(16_000) },
    }))
  assert.equal((await upsert(entries(270))).status, 413)
  assert.equal((await upsert(entries(100))).status, 200)
})

const faulty: [string, unknown, string][] = [
  ['no array', {}, '/resources'],
  ['an entry without id', [{ account_id: '1' }], '/resources/0/id'],
  ['an entry without account_id', [{ id: 'a' }], '/resources/0/account_id'],
  ['an unknown field', [{ id: 'a', account_id: '1', tags: {} }], '/resources/0/tags'],
  ['an empty id', [{ id: '', account_id: '1' }], '/resources/0/id'],
  ['a line end in a name', [{ id: 'a', account_id: '1', name: 'a\nb' }], '/resources/0/name'],
  ['129 characters of id', [{ id: 'x'.repeat(129), account_id: '1' }], '/resources/0/id'],
  ['a rank that is no integer', [{ id: 'a', account_id: '1', rank: 1.5 }], '/resources/0/rank'],
  ['a rank beyond the column', [{ id: 'a', account_id: '1', rank: 2_147_483_648 }], '/resources/0/rank'],
  ['metadata that is no object', [{ id: 'a', account_id: '1', metadata: [] }], '/resources/0/metadata'],
  ['1 MB of metadata', [{ id: 'a', account_id: '1', metadata: { n: 'x'.repeat(1e6) } }], '/resources/0/metadata'],
  ['one id twice', ['a', 'b', 'a'].map((id) => ({ id, account_id: '1' })), '/resources/2/id'],
]
for (const [what, resources, pointer] of faulty) {
  test(`I1 ${what} is refused with its pointer, and nothing is stored`, async () => {
    const { status, body } = await upsert(resources)
    assert.equal(status, 400)
    assert.equal((body.details as { fields: { pointer: string }[] }).fields[0]?.pointer, pointer)
    assert.deepEqual(await list(), [])
  })
}

test('R8 concurrent calls with the same ids in opposite order do not deadlock', async () => {
  const ids = Array.from({ length: 500 }, (_, index) => `a${index}`)
  const rounds = Array.from({ length: 6 }, (_, round) =>
    (round % 2 === 0 ? ids : ids.toReversed()).map((id) => ({ id, account_id: '1', rank: round })),
  )
  const answers = await Promise.all(rounds.map((entries) => upsert(entries)))
  assert.deepEqual(
    answers.map(({ status, body }) => [status, body.upserted]),
    rounds.map(() => [200, 500]),
  )
  // The calls take effect one after the other, so the last one wrote every row.
  const ranks = await asSuperuser('select distinct rank from cloud_account where tenant_id = $1', [caller.tenant_id])
  assert.equal(ranks.length, 1)
})

test('the same ids in another tenant are that tenant’s own, and neither sees the other (T7)', async () => {
  const other = await newTenant()
  const entry = { id: 'a', account_id: '123456789012', name: 'Mine' }
  await upsert([entry])
  assert.deepEqual(await upsert([{ ...entry, name: 'Theirs' }], other), { status: 200, body: { upserted: 1 } })
  assert.deepEqual(
    (await list()).map(({ name }) => name),
    ['Mine'],
  )
  assert.deepEqual(
    (await list('', other)).map(({ name }) => name),
    ['Theirs'],
  )
  assert.equal((await policyViews(entry.account_id)).get(entry.account_id)?.name, 'Mine')
})

test('the list is ordered by rank, name and id, page by page', async () => {
  const entries = [
    { id: '5', name: 'Beta', account_id: '1', rank: 10 },
    { id: '4', name: 'Beta', account_id: '1', rank: 2 },
    { id: '3', name: 'Beta', account_id: '1', rank: 2 },
    { id: '2', name: 'Alpha', account_id: '1', rank: 2 },
    { id: '1', name: 'Zeta', account_id: '1', rank: -3 },
  ]
  await upsert(entries)
  const seen: string[] = []
  for (let cursor = ''; ; ) {
    const { body } = await call(caller, 'GET', `/v1/cloud/accounts?limit=2${cursor}`)
    seen.push(...(body.data as Listed[]).map(({ id }) => id))
    if (body.has_more !== true) break
    cursor = `&cursor=${body.next_cursor}`
  }
  assert.deepEqual(seen, ['1', '2', '3', '4', '5'])
})

test('the longest valid names and ids still make a valid cursor', async () => {
  const name = '😀'.repeat(200)
  await upsert(['a', 'b'].map((end) => ({ id: '😀'.repeat(127) + end, name, account_id: '1' })))
  const { body } = await call(caller, 'GET', '/v1/cloud/accounts?limit=1')
  assert.equal((await list(`?limit=1&cursor=${body.next_cursor}`)).length, 1)
})

test('q finds words of name, account number and id by their beginnings, in the order of the found word', async () => {
  await upsert([
    { id: 'one', name: 'Payments 100%', account_id: '111111111111', rank: 1 },
    { id: 'two', name: 'Sándbox payroll', account_id: '222222222222' },
  ])
  const found = async (q: string) => (await list(`?q=${encodeURIComponent(q)}`)).map(({ id }) => id)
  assert.deepEqual(await found('PAY'), ['one', 'two'])
  assert.deepEqual(await found('sand'), ['two'])
  assert.deepEqual(await found('2222'), ['two'])
  assert.deepEqual(await found('pay 1111'), ['one'])
  assert.deepEqual(await found('tWo'), ['two'])
  for (const part of ['ments', '%', '_', "' or true --"]) assert.deepEqual(await found(part), [], part)
  await upsert([{ id: 'one', name: 'Billing', account_id: '333333333333', rank: 1 }])
  assert.deepEqual(
    [await found('payments'), await found('111'), await found('bill'), await found('333')],
    [[], [], ['one'], ['one']],
  )
  assert.deepEqual(await list('?q=billing', await newTenant()), [], 'another tenant finds nothing')
})

test('reading does not permit writing', async () => {
  assert.equal((await upsert([], { ...caller, scopes: ['cloud_accounts:read'] })).status, 403)
})

test('policy sees the first entry of an account number in list order, and no account without an entry', async () => {
  await upsert([
    { id: 'b', name: 'Second', account_id: '1', rank: 1, metadata: { env: 'dev' } },
    { id: 'a', name: 'First', account_id: '1', rank: 0, metadata: { env: 'prod' } },
    { id: 'c', name: 'Third', account_id: '3' },
  ])
  const views = await policyViews('1', '2', '3')
  assert.deepEqual([...views.keys()], ['1', '3'])
  assert.deepEqual(views.get('1'), { name: 'First', tags: { env: 'prod' }, organizational_unit_ids: [] })
})

test('the accounts of a unit are those with 12 digits under it', async () => {
  const unit = 'ou-ab12-12345678'
  const metadata = { organizational_unit_ids: ['ou-ab12-87654321', unit] }
  await upsert([
    { id: 'a', account_id: '222222222222', metadata },
    { id: 'b', account_id: '111111111111', metadata },
    { id: 'c', account_id: 'twelve digits', metadata },
    { id: 'd', account_id: '333333333333', metadata: { organizational_unit_ids: ['ou-ab12-87654321'] } },
    { id: 'e', account_id: '444444444444' },
  ])
  const tx = database.tenant(caller.tenant_id)
  assert.deepEqual(await listAccountIdsUnder(tx, unit, 50), ['111111111111', '222222222222'])
  assert.deepEqual(await listAccountIdsUnder(tx, unit, 1), ['111111111111'])
})

/** What policy may know of the accounts, by account number. */
async function policyViews(...account_ids: string[]) {
  const tx = database.tenant(caller.tenant_id)
  const [row] = await tx.read(
    sql<{ accounts: AccountForPolicy[] }>`select ${accountsForPolicyAsJson(tx, sql`${account_ids}`)} as accounts`,
  )
  return readAccountsForPolicy(row?.accounts ?? [])
}

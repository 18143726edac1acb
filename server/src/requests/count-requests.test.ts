import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { openHouse, type Person } from '../../test/support/house.ts'
import { type InsertedRequest, insertRequests } from '../../test/support/insert-requests.ts'
import { newId } from '../kernel/id.ts'

/** A count has what its list has, for everybody. The inbox's: `count-inbox.test.ts`. */
const house = await openHouse()
const [ours, theirs] = [await house.tenant('ours'), await house.tenant('theirs')]
const { owner, people } = ours
const [ada, ben] = [people.user, people.approver]

const insert = (one: InsertedRequest, { tenant_id } = ours) => insertRequests(house, tenant_id, one)
const by = ({ user_id }: Person, day: number) => ({ requester_id: user_id, created_at: `2026-01-0${day}T08:00:00Z` })

await insert({ ...by(ada, 1), reason: 'Fix INC-4711' })
await insert({ ...by(ben, 2), action: 'ReadOnlyAccess', status: 'approved', decided_by: owner.user_id })
await insert({ ...by(ada, 3), id: 'payments-prod', type: 'cloud_db_instance', status: 'denied' })
await insert({
  ...by(ada, 4),
  break_glass: true,
  reason: 'production is down',
  status: 'approved',
  decided_by: owner.user_id,
})
await insert({ ...by(owner, 5), id: 'payments-test', type: 'cloud_db_instance', count: 2 })
await insert({ ...by(ben, 6), status: 'cancelled' })
await insert({ ...by(theirs.owner, 1), id: 'payments-theirs', type: 'cloud_db_instance' }, theirs)

const get = (person: Person, path: string, { tenant_id } = ours) =>
  house.call({ method: 'GET', url: `/v1/requests${path}`, token: person.token, tenant_id })

async function counted(person: Person, query: string): Promise<unknown> {
  const { status, body, text } = await get(person, `/count?${query}`)
  assert.equal(status, 200, text)
  return body
}
const all = (count: number) => ({ count, is_complete: true })
const none = all(0)

const queries = [
  '',
  'status=pending',
  'status=approved,denied',
  'requester_id=me',
  `requester_id=${ada.user_id}`,
  `requester_id=${ada.user_id},${ben.user_id}&status=denied,cancelled`,
  'decided_by=me',
  `decided_by=${owner.user_id}&status=approved`,
  'resource_type=cloud_db_instance',
  'resource_id=payments-prod',
  'break_glass=true',
  'break_glass=false',
  'created_after=2026-01-03T08:00:00Z',
  'created_before=2026-01-03T08:00:00Z&status=pending',
  'q=payments',
  'q=prod',
  'q=pro%20down',
  'q=prod&status=denied',
  'q=nowhere',
]

suite('a count', () => {
  for (const query of queries) {
    test(`by \`${query}\` is the length of the list, for those who see all, and those who see their own`, async () => {
      for (const person of [owner, people.auditor, ada, ben, people.admin]) {
        const { data } = (await get(person, `?limit=200&${query}`)).body as { data: unknown[] }
        assert.deepEqual(await counted(person, query), all(data.length))
      }
    })
  }

  test('is right', async () => {
    assert.deepEqual(await counted(owner, ''), all(7))
    assert.deepEqual(await counted(owner, 'status=pending&requester_id=me'), all(2))
    assert.deepEqual(await counted(owner, `requester_id=${ada.user_id}`), all(3))
    assert.deepEqual(await counted(ada, 'status=approved'), all(1))
    assert.deepEqual(await counted(owner, 'decided_by=me'), all(2))
    assert.deepEqual(await counted(ada, `decided_by=${owner.user_id}`), all(1))
  })

  test('ends at 100, and says whether these are all', async () => {
    const crowd = await house.tenant('a crowd')
    const count = async () => (await get(crowd.owner, '/count?status=denied', crowd)).body
    const denied = { ...by(crowd.people.user, 1), status: 'denied' }
    await insert({ ...denied, count: 100 }, crowd)
    assert.deepEqual(await count(), all(100))
    await insert(denied, crowd)
    assert.deepEqual(await count(), { count: 100, is_complete: false })
  })

  test('says where the reading ended early', async () => {
    const crowd = await house.tenant('many that do not pass')
    await insert({ ...by(crowd.people.user, 1), status: 'denied' }, crowd)
    await insert({ ...by(crowd.people.user, 2), count: 2_100 }, crowd)
    await insert({ ...by(crowd.people.user, 3), status: 'cancelled' }, crowd)
    const count = async (query: string) => (await get(crowd.owner, `/count?${query}`, crowd)).body
    assert.deepEqual(await count('status=denied'), all(1))
    // The two statuses together are tested, row by row, from the newest on.
    const tested = 'status=denied,cancelled&break_glass=false'
    assert.deepEqual(await count(tested), { count: 1, is_complete: false })
  })
})

suite('those who see only their own requests', () => {
  test('count no others, whether these exist or not', async () => {
    for (const user_id of [owner.user_id, newId(), theirs.owner.user_id]) {
      assert.deepEqual(await counted(ada, `requester_id=${user_id}`), none)
      assert.deepEqual(await counted(ada, `requester_id=${user_id}&status=pending`), none)
    }
    assert.deepEqual(await counted(ada, 'resource_id=payments-test'), none)
    assert.deepEqual(await counted(ada, 'q=payments'), all(1))
    assert.deepEqual(await counted(ada, `requester_id=${owner.user_id},me`), all(3))
  })

  test('learn nothing from how far a count reads', async () => {
    const crowd = await house.tenant('others')
    await insert({ ...by(crowd.people.user, 1), id: 'payments-mine' }, crowd)
    await insert({ ...by(crowd.people.approver, 2), id: 'payments-many', count: 2_100 }, crowd)
    const count = async (person: Person, query: string) => (await get(person, `/count?${query}`, crowd)).body
    for (const query of [
      'resource_id=payments-many',
      'q=many',
      'q=many&status=pending',
      'status=denied,cancelled&q=pay',
    ]) {
      assert.deepEqual(await count(crowd.people.user, query), none, query)
    }
    assert.deepEqual(await count(crowd.people.user, 'q=payments'), all(1))
    assert.equal((await count(crowd.owner, 'q=many')).count, 100)
  })

  test('are those by their key’s scopes, too', async () => {
    const count = async (scopes: string[]) => {
      const body = { name: 'counts', scopes }
      const made = await house.call({
        ...{ method: 'POST', url: '/v1/api-keys', token: owner.token, tenant_id: ours.tenant_id, body },
      })
      const api_key = String(made.body.key)
      return (await house.call({ method: 'GET', url: '/v1/requests/count', api_key, tenant_id: ours.tenant_id })).body
    }
    assert.deepEqual(await count(['requests:read']), all(7))
    assert.deepEqual(await count(['requests:create']), all(2))
  })
})

test('nobody counts a request of another tenant', async () => {
  const foreign = [`requester_id=${theirs.owner.user_id}`, 'resource_id=payments-theirs', 'q=theirs']
  for (const query of foreign) assert.deepEqual(await counted(owner, query), none)
  assert.deepEqual((await get(theirs.owner, '/count', theirs)).body, all(1))
})

suite('the path', () => {
  test('is not that of a request, nor is a request’s that of the count', async () => {
    const tries: [string, string, number][] = [
      ['GET', '/v1/requests/count', 200],
      ['GET', `/v1/requests/${newId()}`, 404],
      ['GET', '/v1/requests/counts', 404],
      ['GET', '/v1/requests/Count', 404],
      ['GET', '/v1/requests/c%6funt', 404],
      ['DELETE', '/v1/requests/count', 405],
      ['POST', '/v1/requests/count', 405],
      ['GET', '/v1/requests/count/decision', 404],
    ]
    for (const [method, url, expected] of tries) {
      const { status, text } = await house.call({ method, url, token: owner.token, tenant_id: ours.tenant_id })
      assert.equal(status, expected, `${method} ${url}: ${text}`)
    }
  })

  test('takes no page and no order, and needs a credential', async () => {
    for (const query of ['limit=1', 'cursor=x', 'sort=created_at', 'status=unknown', 'requester_id=you', 'q=']) {
      const { status, body } = await get(owner, `/count?${query}`)
      assert.deepEqual([status, body.code], [400, 'invalid_input'], query)
    }
    const { status } = await house.call({ method: 'GET', url: '/v1/requests/count', tenant_id: ours.tenant_id })
    assert.equal(status, 401)
  })
})

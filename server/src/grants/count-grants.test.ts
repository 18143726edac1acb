import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { isActive, openGrantLists, type Query } from '../../test/support/grant-lists.ts'
import { openHouse, type Person } from '../../test/support/house.ts'
import { insertCrowd } from '../../test/support/listed-grants.ts'
import { newId } from '../kernel/id.ts'

/** A count has what the list of grants has, for everybody. */
const house = await openHouse()
const { ours, theirs, holders, grants, own, foreign, filters } = await openGrantLists(house)
const { people, owner } = ours

async function counted(person: Person, query: Query, { tenant_id } = ours): Promise<unknown> {
  const url = `/v1/grants/count?${new URLSearchParams(query)}`
  const reply = await house.call({ method: 'GET', url, token: person.token, tenant_id })
  assert.equal(reply.status, 200, `${url}: ${reply.text}`)
  return reply.body
}
const all = (count: number) => ({ count, is_complete: true })
const none = all(0)

suite('a count of grants', () => {
  for (const [index, [query, keeps]] of filters.entries()) {
    test(`${Object.keys(query)} (${index + 1}): alone, and with other filters`, async () => {
      assert.deepEqual(await counted(owner, query), all(grants.filter(keeps).length))
      assert.deepEqual(await counted(people.user, query), all(own.filter(keeps).length))
      for (const [other, keepsOther] of filters.slice(index + 1).filter((_, place) => place % 4 === 0)) {
        if (Object.keys(other).some((name) => name in query)) continue
        const both = { ...query, ...other }
        const right = grants.filter((grant) => keeps(grant) && keepsOther(grant)).length
        assert.deepEqual(await counted(owner, both), all(right), JSON.stringify(both))
      }
    })
  }

  test('is what ends with all access of a user', async () => {
    const user_id = holders[0] ?? ''
    const live = grants.filter((grant) => grant.user_id === user_id && ['pending', 'active'].includes(grant.status))
    assert.ok(live.length > 0)
    assert.deepEqual(await counted(owner, { user_id, status: 'pending,active' }), all(live.length))
    assert.deepEqual(await counted(people.user, { user_id: 'me', status: 'active' }), all(own.filter(isActive).length))
  })

  test('ends at 100, and says where the reading ended early', async () => {
    const crowd = await house.tenant('a crowd')
    await insertCrowd(house, crowd.tenant_id, crowd.people.user.user_id, 2_100, 'active')
    const count = (query: Query) => counted(crowd.owner, query, crowd)
    assert.deepEqual(await count({}), { count: 100, is_complete: false })
    assert.deepEqual(await count({ action: 'Rare' }), all(3))
    assert.deepEqual(await count({ status: 'active', drifted: 'false', provisioning_status: 'failed,deprovisioned' }), {
      ...{ count: 0, is_complete: false },
    })
  })
})

suite('a caller without grants:read', () => {
  test('counts no grants of others, whether they exist or not', async () => {
    for (const user_id of [holders[1] ?? '', newId(), foreign[0]?.user_id ?? '']) {
      assert.deepEqual(await counted(people.user, { user_id }), none)
    }
    const request_id = grants.find((grant) => !own.includes(grant))?.request_id ?? ''
    for (const id of [request_id, newId()]) assert.deepEqual(await counted(people.user, { request_id: id }), none)
    assert.deepEqual(await counted(owner, { request_id }), all(3))
    assert.deepEqual(await counted(people.user, { user_id: holders.join() }), all(own.length))
  })

  test('does not learn from how far a count reads how many grants others have', async () => {
    const crowd = await house.tenant('others')
    await insertCrowd(house, crowd.tenant_id, crowd.people.approver.user_id, 2_100, 'active')
    await insertCrowd(house, crowd.tenant_id, crowd.people.user.user_id, 1, 'expired')
    for (const [{ user_id: _, ...query }] of filters) {
      const { count, is_complete } = (await counted(crowd.people.user, query, crowd)) as ReturnType<typeof all>
      assert.deepEqual([count <= 1, is_complete], [true, true], JSON.stringify(query))
    }
  })
})

test('nobody counts a grant of another tenant', async () => {
  for (const query of [{ user_id: foreign[0]?.user_id ?? '' }, { request_id: foreign[0]?.request_id ?? '' }]) {
    assert.deepEqual(await counted(owner, query), none)
    assert.equal(((await counted(theirs.owner, query, theirs)) as { count: number }).count > 0, true)
  }
})

test('the path is not that of a grant, and takes no page and no order', async () => {
  const tries: [string, string, number][] = [
    ['GET', `/v1/grants/${newId()}`, 404],
    ['GET', '/v1/grants/counts', 404],
    ['POST', '/v1/grants/count', 405],
    ['GET', '/v1/grants/count?limit=1', 400],
    ['GET', '/v1/grants/count?cursor=x', 400],
    ['GET', '/v1/grants/count?sort=created_at', 400],
    ['GET', '/v1/grants/count?request_id=count', 400],
  ]
  for (const [method, url, expected] of tries) {
    const { status, text } = await house.call({ method, url, token: owner.token, tenant_id: ours.tenant_id })
    assert.equal(status, expected, `${method} ${url}: ${text}`)
  }
})

import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { openHouse, type Person } from '../../test/support/house.ts'
import { insertRequests } from '../../test/support/insert-requests.ts'
import { requestStage } from '../../test/support/request-stage.ts'
import { until } from '../../test/support/wait.ts'

/** The number beside the inbox: as many requests as it has, for everybody. */
const house = await openHouse()
const on = await requestStage(house, 'inbox counts')
const { tenant_id, owner, people } = on

await on.rule('permit (principal, action, resource);')
// Nobody decides about the second account.
await on.rule('forbid (principal, action == Action::"approve", resource in cloud_account::"100000000002");')
for (const id of ['100000000001', '100000000002', '100000000003']) await on.ask(on.account(id))
await on.ask(on.account('100000000001'), people.approver)

const call = (credential: object, path: string) =>
  house.call({ method: 'GET', url: `/v1/requests${path}decidable_by=me`, tenant_id, ...credential })

const count = async (credential: object, query = '') => (await call(credential, `/count?${query}`)).body
const all = (count: number) => ({ count, is_complete: true })
const byToken = ({ token }: Person) => ({ token })

suite('the count of the inbox', () => {
  test('is how many requests it has', async () => {
    const expected: [Person, number][] = [
      [people.approver, 2],
      [owner, 3],
      [people.user, 0],
      [people.auditor, 0],
    ]
    for (const [person, right] of expected) {
      const { data } = (await call(byToken(person), '?limit=200&')).body as { data: unknown[] }
      assert.deepEqual([await count(byToken(person)), data.length], [all(right), right])
    }
  })

  test('takes the filters of the inbox, and refuses what contradicts it', async () => {
    assert.deepEqual(await count(byToken(owner), 'resource_id=100000000003&'), all(1))
    assert.deepEqual(await count(byToken(owner), 'resource_id=100000000002&'), all(0))
    assert.deepEqual(await count(byToken(owner), `requester_id=${people.approver.user_id}&`), all(1))
    assert.deepEqual(await count(byToken(owner), 'requester_id=me&'), all(0))
    for (const query of ['status=pending&', 'decided_by=me&', 'q=account&']) {
      const { status, body } = await call(byToken(owner), `/count?${query}`)
      assert.deepEqual([status, body.code], [400, 'invalid_input'], query)
    }
  })

  test('is 0 for a key that lacks one of the two scopes, whatever its maker may decide', async () => {
    for (const [scopes, right] of [
      [['requests:read'], 0],
      [['requests:approve'], 0],
      [['requests:read', 'requests:approve'], 3],
    ] as const) {
      const { key } = await on.created(owner, '/v1/api-keys', { name: 'counts', scopes })
      assert.deepEqual(await count({ api_key: key }), all(right), scopes.join())
    }
  })

  test('no longer has what was decided', async () => {
    const id = await on.ask(on.account('100000000004'))
    assert.deepEqual(await count(byToken(people.approver)), all(3))
    await on.approve(id)
    assert.deepEqual(await count(byToken(people.approver)), all(2))
  })

  test('ends at 100, and where too many requests were examined', async () => {
    const many = await requestStage(house, 'a full inbox')
    const { approver, user } = many.people
    const counted = async () => {
      const url = '/v1/requests/count?decidable_by=me'
      return (await house.call({ method: 'GET', url, token: approver.token, tenant_id: many.tenant_id })).body
    }
    const created_at = '2026-01-01T00:00:00Z'
    await insertRequests(house, many.tenant_id, { requester_id: user.user_id, created_at, count: 501 })
    const permitAgain = await many.rule('forbid (principal, action == Action::"approve", resource);')
    assert.deepEqual(await counted(), { count: 0, is_complete: false })
    await permitAgain()
    // On a slow machine the reading may end before it has 100.
    const full = await until('the inbox is counted up to 100', async () => {
      const found = await counted()
      return found.count === 100 && found
    })
    assert.deepEqual(full, { count: 100, is_complete: false })
  })
})

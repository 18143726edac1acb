import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { openHouse, type Person } from '../../test/support/house.ts'
import { type InsertedRequest, insertRequests } from '../../test/support/insert-requests.ts'
import { requestStage } from '../../test/support/request-stage.ts'
import { newId } from '../kernel/id.ts'

/** What an approver sees of the requests that the requester made before. */
const house = await openHouse()
const on = await requestStage(house, 'recent requests')
const { tenant_id, owner, people } = on
await on.rule('permit (principal, action, resource);')

/** A user of their own for each test. */
async function requester(): Promise<string> {
  const body = { email: `${newId()}@example.com`, name: 'Dana', roles: ['user'], auth_provider: 'oidc' }
  return String((await on.created(owner, '/v1/users', body)).id)
}

/** So many days, minutes and seconds before the request that is decided. */
const before = (days: number, seconds = 0) => new Date(asked - (days * 86_400 + seconds) * 1_000).toISOString()
const asked = Date.UTC(2026, 0, 31, 12)

const insert = (requester_id: string, days: number, more: Partial<InsertedRequest> = {}) =>
  insertRequests(house, tenant_id, { requester_id, created_at: before(days), ...more })

const approved = (duration_seconds: number) => ({ status: 'approved', duration_seconds })

async function recentOf(id: string, person: Person = people.approver): Promise<unknown> {
  const { status, body, text } = await on.call(person, 'GET', `/v1/requests/${id}`)
  assert.equal(status, 200, text)
  return body.recent
}

suite('what the requester asked for before', () => {
  test('is nothing where they asked for nothing', async () => {
    const id = await insert(await requester(), 0)
    assert.deepEqual(await recentOf(id), { same_requests: 0, denied: 0, usual_duration_seconds: null })
  })

  test('counts the same access alone, of the 30 days before, and of nobody else', async () => {
    const dana = await requester()
    const id = await insert(dana, 0)
    for (const status of ['pending', 'approved', 'denied', 'expired', 'cancelled']) await insert(dana, 2, { status })
    await insert(dana, 30)
    await insert(dana, 3, { action: 'Other' })
    await insert(dana, 3, { id: '999999999999' })
    await insert(dana, 3, { type: 'cloud_db_instance' })
    await insertRequests(house, tenant_id, { requester_id: dana, created_at: before(30, 1) })
    await insert(dana, -1)
    await insert(await requester(), 2, approved(900))
    assert.deepEqual(await recentOf(id), { same_requests: 5, denied: 1, usual_duration_seconds: 3_600 })
  })

  test('tells two of one moment apart: only one was before the other', async () => {
    const dana = await requester()
    const [first, second] = [await insert(dana, 0), await insert(dana, 0)]
    const numbers = await Promise.all([first, second].map((id) => recentOf(id)))
    assert.deepEqual(
      numbers.map((recent) => (recent as { same_requests: number }).same_requests),
      [0, 1],
    )
  })

  test('has the median of what was approved: as it was given, without extensions', async () => {
    const dana = await requester()
    const id = await insert(dana, 0)
    const usual = async () => (await recentOf(id)) as { usual_duration_seconds: number | null }
    await insert(dana, 1, { status: 'denied', duration_seconds: 60 })
    assert.equal((await usual()).usual_duration_seconds, null)
    await insert(dana, 2, approved(600))
    await insert(dana, 3, approved(7_200))
    assert.equal((await usual()).usual_duration_seconds, 600)
    const shorter = { approved_duration_seconds: 1_800, decided_by: people.approver.user_id }
    await insert(dana, 4, { ...approved(43_200), ...shorter })
    assert.equal((await usual()).usual_duration_seconds, 1_800)
    await insert(dana, 5, { ...approved(60), extends: newId(), count: 5 })
    assert.deepEqual(await usual(), { same_requests: 9, denied: 1, usual_duration_seconds: 1_800 })
  })

  test('counts up to 100, of the last 500 requests', async () => {
    const dana = await requester()
    const id = await insert(dana, 0)
    await insert(dana, 5, { count: 101 })
    assert.deepEqual(await recentOf(id), { same_requests: 100, denied: 0, usual_duration_seconds: null })
    await insert(dana, 4, { count: 450, action: 'Other' })
    assert.deepEqual(await recentOf(id), { same_requests: 50, denied: 0, usual_duration_seconds: null })
  })

  test('is of the tenant alone', async () => {
    const other = await requestStage(house, 'another tenant')
    const dana = await requester()
    const id = await insert(dana, 0)
    // A user with the same id, whose requests only the tenant tells apart.
    await house.asSuperuser(
      `insert into tenant_user (tenant_id, id, email, email_key, name, auth_provider)
        select $2, id, email, email_key, name, auth_provider from tenant_user where id = $1`,
      [dana, other.tenant_id],
    )
    await insertRequests(house, other.tenant_id, { requester_id: dana, created_at: before(1), count: 3 })
    assert.deepEqual(await recentOf(id), { same_requests: 0, denied: 0, usual_duration_seconds: null })
  })
})

test('only those who may decide see it', async () => {
  await on.rule('forbid (principal, action == Action::"approve", resource in cloud_account::"222222222222");')
  const account = on.account('111111111111')
  const first = await on.ask(account)
  const [id, own] = [await on.ask(account), await on.ask(account, people.approver)]
  const undecidable = await on.ask(on.account('222222222222'))
  assert.deepEqual(await recentOf(id), { same_requests: 1, denied: 0, usual_duration_seconds: null })
  await on.approve(first)
  const views: [Person, string][] = [
    [people.user, id],
    [people.auditor, id],
    [people.approver, own],
    [people.approver, undecidable],
    [people.approver, first],
  ]
  for (const [person, request] of views) {
    const { body } = await on.call(person, 'GET', `/v1/requests/${request}`)
    assert.deepEqual([body.may_decide, 'recent' in body], [false, false])
  }
  const { body } = await on.call(people.approver, 'GET', '/v1/requests?limit=200')
  assert.ok((body.data as object[]).every((one) => !('recent' in one)))
})

import assert from 'node:assert/strict'
import { before, suite, test } from 'node:test'
import { newId } from '../../src/kernel/id.ts'
import { openHouse, type Person } from '../support/house.ts'
import { notifyAll } from '../support/notify-all.ts'
import { requestStage } from '../support/request-stage.ts'

/** "The manager approves": from the fact to the access. And "only Finance may ask". */
const house = await openHouse()
const on = await requestStage(house, 'the manager approves')
const { owner, people, call } = on
const [ada, grace, ben] = [people.user, people.approver, people.admin]

const done = async (by: Person, method: string, url: string, body?: unknown) => {
  const reply = await call(by, method, url, body)
  assert.ok(reply.status < 300, reply.text)
  return reply.body
}
const { data } = await done(owner, 'GET', '/v1/policies')
for (const { id, name } of data as { id: string; name: string }[])
  if (name !== 'the manager approves') await done(owner, 'DELETE', `/v1/policies/${id}`)
await on.rule(`permit (principal, action == Action::"ReadOnly", resource)
  when { principal has department && principal.department == "Finance" };`)
await on.rule(`permit (principal, action == Action::"approve", resource)
  when { resource.requester has manager && resource.requester.manager == principal };`)

const state = (about: Person, facts: object) => done(owner, 'PATCH', `/v1/users/${about.user_id}`, facts)
const inboxOf = async (person: Person) =>
  ((await done(person, 'GET', '/v1/requests?decidable_by=me')).data as { id: string }[]).map(({ id }) => id)
const body = on.account('620000000001')
const approve = (by: Person, id: string) => call(by, 'POST', `/v1/requests/${id}/approve`, {})
const notified = async (id: string) => {
  await notifyAll(house)
  const rows = await house.asSuperuser<{ user_id: string }>(
    `select distinct user_id from notification where resource_id = $1 and event_type = 'request.created'`,
    [id],
  )
  return rows.map(({ user_id }) => user_id)
}

suite('a person whose department is not known', () => {
  test('is refused, and offered nothing', async () => {
    const refused = await call(ada, 'POST', '/v1/requests', body)
    assert.deepEqual([refused.status, refused.body.code], [403, 'policy_denied'])
    assert.deepEqual((await done(ada, 'GET', '/v1/catalogue')).data, [])
  })

  test('may ask once it is, and is warned while nobody may approve', async () => {
    await done(owner, 'PUT', '/v1/cloud/accounts', { resources: [{ id: '620000000001', account_id: '620000000001' }] })
    await state(ada, { department: 'Finance' })
    const offered = (await done(ada, 'GET', '/v1/catalogue')).data as { action: string }[]
    assert.deepEqual(
      offered.map(({ action }) => action),
      ['ReadOnly'],
    )
    const preview = await done(ada, 'POST', '/v1/requests/preview', body)
    assert.match(JSON.stringify(preview.warnings), /nobody_may_approve/)
  })

  test('others of other departments still may not, and those who may read rules see why', async () => {
    await state(ben, { department: 'Sales' })
    const refused = await call(ben, 'POST', '/v1/requests', body)
    assert.equal(refused.status, 403)
    const { nearest } = refused.body.details as { nearest: { wanted: string; given: string }[] }
    assert.deepEqual([nearest[0]?.wanted, nearest[0]?.given], ['where your department is "Finance"', 'it is "Sales"'])
    assert.deepEqual((await done(ben, 'GET', '/v1/catalogue')).data, [])
  })
})

suite('a request of somebody who has a manager', () => {
  let id = ''
  before(async () => {
    await state(ada, { department: 'Finance', manager_id: grace.user_id })
    id = await on.ask(body, ada)
  })

  test('names the manager alone as who may decide', async () => {
    const { names, count } = await done(ada, 'GET', `/v1/requests/${id}/deciders`)
    assert.deepEqual([names, count], [['approver'], 1])
  })

  test('notifies the manager, and is in their inbox alone', async () => {
    assert.deepEqual(await notified(id), [grace.user_id])
    assert.deepEqual([await inboxOf(grace), await inboxOf(ben), await inboxOf(owner)], [[id], [], []])
  })

  test('is not decided by other approvers, nor by its requester', async () => {
    for (const by of [ben, owner]) {
      const refused = await approve(by, id)
      assert.deepEqual([refused.status, refused.body.code], [403, 'policy_denied'])
    }
    assert.equal((await approve(ada, id)).status, 403)
  })

  test('is decided by the manager', async () => {
    const { status, text } = await approve(grace, id)
    assert.equal(status, 200, text)
    assert.equal((await done(ada, 'GET', `/v1/requests/${id}`)).status, 'approved')
  })

  test('is denied to a manager who may not decide requests', async () => {
    await state(ada, { manager_id: people.auditor.user_id })
    const other = await on.ask(body, ada)
    assert.equal((await approve(people.auditor, other)).status, 403)
    assert.deepEqual(await notified(other), [])
  })
})

test('a circle of 10,000 managers is decided like any other', async () => {
  const ids = Array.from({ length: 10_000 }, () => newId())
  await house.asSuperuser(
    `insert into tenant_user (tenant_id, id, email, email_key, name, auth_provider)
      select $1, id, id || '@example.com', id || '@example.com', 'One of many', 'oidc' from unnest($2::uuid[]) id`,
    [on.tenant_id, ids],
  )
  await house.asSuperuser(
    `update tenant_user u set manager_id = next.id
      from unnest($2::uuid[], $3::uuid[]) next (of, id) where u.tenant_id = $1 and u.id = next.of`,
    [on.tenant_id, [ada.user_id, ...ids], [...ids, ada.user_id]],
  )
  await state(ada, { manager_id: grace.user_id })
  await state(grace, { manager_id: String(ids[0]) })
  const id = await on.ask(body, ada)
  assert.deepEqual(await notified(id), [grace.user_id])
  assert.equal((await approve(grace, id)).status, 200)
})

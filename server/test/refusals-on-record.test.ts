import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { newId } from '../src/kernel/id.ts'
import { requestStage } from './support/request-stage.ts'
import { factorsUrl, openFactorStage } from './support/second-factor-stage.ts'

/** Every refusal for missing rights is in the audit log, once, also where the operation itself finds it. */
const { house, member, withPassword, addApp, as } = await openFactorStage()
const stage = await requestStage(house, 'on record')
const { tenant_id, people, call, ask, approve, account, rule } = stage
await rule('permit (principal, action, resource);')

/** What is on record of refusals since the last time. */
async function recorded(): Promise<unknown[]> {
  const rows = await house.asSuperuser<{ all: unknown[] }>(
    `select array[subject_type, subject_id, data->>'code'] as all from event
      where tenant_id = $1 and type = 'access.refused' and seq > $2 order by seq`,
    [tenant_id, last],
  )
  const [{ seq } = { seq: last }] = await house.asSuperuser<{ seq: string }>('select max(seq)::text as seq from event')
  last = seq
  return rows.map(({ all }) => all)
}
let last = '0'

suite('a refusal that an operation finds is recorded once (P36)', () => {
  test('to cancel the request of another user', async () => {
    const url = `/v1/requests/${await ask(account('123456789012'), people.admin)}`
    await recorded()
    assert.equal((await call(people.user, 'DELETE', url)).status, 403)
    assert.deepEqual(await recorded(), [['operation', 'cancelRequest', 'forbidden']])
    const headers = { 'idempotency-key': newId() }
    const keyed = { method: 'DELETE', url, tenant_id, token: people.user.token, headers }
    assert.deepEqual([(await house.call(keyed)).status, (await house.call(keyed)).status], [403, 403])
    assert.deepEqual(await recorded(), [['operation', 'cancelRequest', 'forbidden']])
  })

  test('to end or retry the access of another user, of which who may not see it learns nothing', async () => {
    const request_id = await approve(await ask(account('123456789013'), people.admin))
    const [grant] = await house.asSuperuser<{ id: string }>('select id from access_grant where request_id = $1', [
      request_id,
    ])
    await recorded()
    for (const act of ['revoke', 'retry']) {
      const url = (id: string | undefined) => `/v1/grants/${id}/${act}`
      const byUser = await call(people.user, 'POST', url(grant?.id))
      const unknown = await call(people.user, 'POST', url(newId()))
      assert.deepEqual([byUser.status, byUser.body.message], [404, unknown.body.message])
      const byAuditor = await call(people.auditor, 'POST', url(grant?.id))
      assert.equal(byAuditor.status, 403, byAuditor.text)
    }
    assert.deepEqual(await recorded(), [
      ['operation', 'revokeGrant', 'forbidden'],
      ['operation', 'retryGrant', 'forbidden'],
    ])
  })

  test('to change a second factor without it', async () => {
    const user = await member(stage)
    const { factor_id } = await addApp(await withPassword(user))
    const token = await house.tokenOf(tenant_id, user.id, new Date())
    await house.asSuperuser(`update user_session set amr = '{pwd}' where user_id = $1`, [user.id])
    await recorded()
    const removed = await as({ user, token }, 'DELETE', `${factorsUrl}/${factor_id}`)
    assert.deepEqual([removed.status, removed.body.code], [403, 'sign_in_again'])
    assert.deepEqual(await recorded(), [['operation', 'deleteSecondFactor', 'sign_in_again']])
  })

  test('where the operation records it with its own subject, no second time', async () => {
    await recorded()
    const named = { name: 'Too much', scopes: ['policies:write'] }
    assert.equal((await call(people.user, 'POST', '/v1/roles', named)).status, 403)
    assert.deepEqual(await recorded(), [['operation', 'createRole', 'forbidden']])
    const url = `/v1/users/${people.admin.user_id}`
    await house.asSuperuser(
      `insert into role (tenant_id, id, name, scopes) values ($1, 'helpers', 'Helpers', '{users:write}')`,
      [tenant_id],
    )
    await house.asSuperuser(`insert into user_role (tenant_id, user_id, role_id) values ($1, $2, 'helpers')`, [
      tenant_id,
      people.user.user_id,
    ])
    assert.equal((await call(people.user, 'DELETE', url)).status, 403)
    assert.deepEqual(await recorded(), [['user', people.admin.user_id, 'forbidden']])
  })
})

import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { comingAndGoing } from '../../test/support/coming-and-going.ts'
import { openHouse, type Reply } from '../../test/support/house.ts'
import { until } from '../../test/support/wait.ts'
import { startWorkers } from '../../test/support/workers.ts'
import { newId } from '../kernel/id.ts'

/** How users change and leave, over HTTP: their requests and grants end with them. */
const house = await openHouse()
const life = await comingAndGoing(house, 'leaving')
const {
  tenant_id,
  owner,
  people,
  call,
  created,
  newcomer,
  ask,
  held,
  deactivate,
  deleteUser,
  suspend,
  signIn,
  eventsOf,
  typesOf,
  requestIs,
  grantOf,
  password,
} = life

suite('changing a user', () => {
  test('sets the name, with one event', async () => {
    const { user_id } = await newcomer()
    const renamed = await call(owner, 'PATCH', `/v1/users/${user_id}`, { name: 'Ada' })
    assert.deepEqual([renamed.status, renamed.body.name, renamed.body.active], [200, 'Ada', true])
    for (const body of [{ name: 'Ada' }, { active: true }, {}]) {
      const again = await call(owner, 'PATCH', `/v1/users/${user_id}`, body)
      assert.deepEqual([again.status, again.body], [200, renamed.body])
    }
    assert.deepEqual(await typesOf(user_id), ['user.created', 'user.updated'])
  })

  for (const [field, value] of Object.entries({
    is_owner: true,
    email_verified: true,
    email: 'else@example.com',
    roles: ['admin'],
    auth_provider: 'saml',
    tenant_id,
    id: newId(),
    deleted_at: null,
  })) {
    test(`refuses ${field} (P10)`, async () => {
      const reply = await call(owner, 'PATCH', `/v1/users/${people.auditor.user_id}`, { name: 'Else', [field]: value })
      assert.deepEqual([reply.status, reply.body.code], [400, 'invalid_input'])
      assert.equal((await call(owner, 'GET', `/v1/users/${people.auditor.user_id}`)).body.name, 'auditor')
    })
  }

  test('needs the scope to write users', async () => {
    for (const person of [people.user, people.approver, people.auditor]) {
      assert.equal((await deactivate(owner.user_id, person)).status, 403)
      assert.equal((await deleteUser(people.user.user_id, person)).status, 403)
    }
  })
})

for (const [verb, leave, event, account] of [
  ['deactivated', deactivate, 'user.deactivated', '000000000002'],
  ['deleted', deleteUser, 'user.deleted', '000000000001'],
  ['suspended', suspend, 'user.suspended', '000000000003'],
] as const) {
  suite(`a user who is ${verb}`, () => {
    test('is locked out at once: token, key and password are refused (A6, P35)', async () => {
      const person = await newcomer()
      const url = '/v1/requests'
      const tries = () =>
        Promise.all([
          house.call({ method: 'GET', url, tenant_id, token: person.token }),
          house.call({ method: 'GET', url, tenant_id, api_key: person.api_key }),
          signIn(person.email),
        ])
      assert.deepEqual(
        (await tries()).map((reply) => reply.status),
        [200, 200, 200],
      )
      assert.ok((await leave(person.user_id)).status < 300)
      assert.deepEqual(
        (await tries()).map((reply) => reply.status),
        [401, 401, 401],
      )
    })

    test('keeps no open request or grant, and each end has an event (P35)', async () => {
      const person = await newcomer()
      const pending = await ask(person)
      const { request_id, grant_id } = await held(person)
      const others = await ask(people.user)
      assert.ok((await leave(person.user_id)).status < 300)
      const reason = `its holder was ${verb}`
      assert.deepEqual(
        [await requestIs(pending), await requestIs(request_id), await requestIs(others)],
        ['cancelled', 'approved', 'pending'],
      )
      assert.deepEqual(await eventsOf(pending).then((events) => events.at(-1)), {
        type: 'request.cancelled',
        data: { request_id: pending, reason },
      })
      assert.deepEqual(await grantOf(grant_id), {
        status: 'revoked',
        provisioning_status: 'not_attempted',
        ended_by: owner.user_id,
        end_reason: reason,
        next_look_at: null,
      })
      assert.deepEqual(await eventsOf(grant_id), [{ type: 'grant.revoked', data: { request_id } }])
      assert.deepEqual(
        (await typesOf(person.user_id)).filter((type) => type.startsWith('user.')),
        ['user.created', event],
      )
    })

    test('gets no access that was approved before, and loses the access that was given (R6, P35)', async () => {
      const [early, late] = [await newcomer(), await newcomer()]
      const unplanned = await held(early, account)
      assert.ok((await leave(early.user_id)).status < 300)
      const work = startWorkers(house)
      const given = await held(late, account)
      await until('access is there', async () => (await grantOf(given.grant_id)).status === 'active')
      const at = () =>
        house.asSuperuser<{ key: string }>('select key from sandbox_assignment where key like $1', [`%${account}%`])
      assert.equal((await at()).length, 1, 'only the grant of the other user')
      assert.ok((await leave(late.user_id)).status < 300)
      await until('access is gone', async () => (await at()).length === 0)
      await until(
        'the grant is deprovisioned',
        async () => (await grantOf(given.grant_id)).provisioning_status === 'deprovisioned',
      )
      assert.deepEqual(await typesOf(unplanned.grant_id), ['grant.revoked'])
      assert.deepEqual(await typesOf(given.grant_id), ['grant.activated', 'grant.revoked'])
      await work.stop()
    })

    test('can be the caller', async () => {
      const admin = await newcomer(['user', 'admin'])
      assert.ok((await leave(admin.user_id, admin)).status < 300)
      assert.equal((await call(admin, 'GET', '/v1/users')).status, 401)
    })

    test('is never the last active owner, for any caller (P16)', async () => {
      for (const by of [owner, people.admin]) {
        const reply = await leave(owner.user_id, by)
        assert.deepEqual([reply.status, reply.body.code], [409, 'last_owner'])
      }
      assert.equal((await call(owner, 'GET', '/v1/users')).status, 200)
    })
  })
}

suite('a deactivated user', () => {
  test('keeps their roles when they are reactivated, but not their grants', async () => {
    const person = await newcomer()
    const { grant_id } = await held(person)
    const gone = await deactivate(person.user_id)
    assert.deepEqual([gone.status, gone.body.active], [200, false])
    const back = await call(owner, 'PATCH', `/v1/users/${person.user_id}`, { active: true })
    assert.deepEqual([back.status, back.body.active, back.body.roles], [200, true, ['user']])
    assert.equal((await signIn(person.email)).status, 200)
    assert.equal((await grantOf(grant_id)).status, 'revoked')
    assert.deepEqual((await typesOf(person.user_id)).slice(1, 3), ['user.deactivated', 'user.reactivated'])
  })

  test('cannot be reactivated by a caller with fewer scopes', async () => {
    const admin = await newcomer(['user', 'admin'])
    const key = await call(owner, 'POST', '/v1/api-keys', { name: 'desk', scopes: ['users:write', 'requests:create'] })
    const desk = (body: object) =>
      house.call({
        method: 'PATCH',
        url: `/v1/users/${admin.user_id}`,
        api_key: String(key.body.key),
        tenant_id,
        body,
      })
    assert.equal((await deactivate(admin.user_id)).status, 200)
    const refused = await desk({ active: true })
    assert.deepEqual([refused.status, refused.body.code], [403, 'forbidden'])
    assert.equal((await call(owner, 'PATCH', `/v1/users/${admin.user_id}`, { active: true })).status, 200)
  })
})

suite('a deleted user', () => {
  test('is not found by any operation, like an unknown user', async () => {
    const { user_id } = await newcomer()
    const gone = await deleteUser(user_id)
    assert.deepEqual([gone.status, gone.text], [204, ''])
    const group = await joinGroup(people.user.user_id)
    const ways: ((id: string) => Promise<Reply>)[] = [
      (id) => call(owner, 'GET', `/v1/users/${id}`),
      (id) => call(owner, 'PATCH', `/v1/users/${id}`, { active: true }),
      (id) => call(owner, 'DELETE', `/v1/users/${id}`),
      (id) => call(owner, 'PUT', `/v1/users/${id}/roles`, { roles: ['user'] }),
      (id) => call(owner, 'POST', `/v1/groups/${group}/members`, { user_id: id }),
    ]
    for (const way of ways) {
      const [deleted, never] = await Promise.all([user_id, newId()].map(way))
      assert.deepEqual([deleted?.status, deleted?.body], [404, never?.body])
    }
    const list = await call(owner, 'GET', '/v1/users?limit=200')
    assert.ok(!list.text.includes(user_id))
  })

  test('frees their address but not their id, and keeps no password, role or group', async () => {
    const { user_id, email } = await newcomer()
    await joinGroup(user_id)
    await deleteUser(user_id)
    const again = await created('/v1/users', { email, name: 'Another', roles: ['user'], password })
    assert.notEqual(again, user_id)
    assert.equal((await signIn(email)).status, 200)
    const twice = await call(owner, 'POST', '/v1/users', { email, name: 'Third', roles: ['user'], password })
    assert.deepEqual([twice.status, twice.body.code], [409, 'user_exists'])
    const left = await house.asSuperuser(
      `select user_id from user_password where user_id = $1 union all select user_id from user_role where user_id = $1
        union all select user_id from group_member where user_id = $1`,
      [user_id],
    )
    assert.deepEqual(left, [])
  })

  test('stays deleted, because the database refuses to change them', async () => {
    const { user_id } = await newcomer()
    await deleteUser(user_id)
    const back = 'update tenant_user set active = true, deleted_at = null where id = $1'
    await assert.rejects(house.asSuperuser(back, [user_id]), /never changes again/)
    await assert.rejects(
      house.asSuperuser('update tenant_user set deleted_at = clock_timestamp() where id = $1', [people.user.user_id]),
      /tenant_user_deleted_ck/,
    )
  })
})

/** A group with this member. */
async function joinGroup(user_id: string): Promise<string> {
  const id = newId()
  await house.asSuperuser(
    `with made as (insert into tenant_group (tenant_id, id, name, source) values ($1, $2, 'a group', 'local'))
      insert into group_member (tenant_id, group_id, user_id, membership_source) values ($1, $2, $3, 'local')`,
    [tenant_id, id, user_id],
  )
  return id
}

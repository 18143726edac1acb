import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { openHouse, type Person } from '../../test/support/house.ts'
import { newId } from '../kernel/id.ts'

const house = await openHouse()
const tenant = await house.tenant('roles of users')
const { tenant_id, owner, people } = tenant

async function call(person: Person, method: string, url: string, body?: unknown) {
  return house.call({ method, url, token: person.token, tenant_id, ...(body !== undefined && { body }) })
}

async function role(...scopes: string[]): Promise<string> {
  const reply = await call(owner, 'POST', '/v1/roles', { name: 'a role', scopes })
  assert.equal(reply.status, 201, reply.text)
  return String(reply.body.id)
}

async function give(by: Person, to: Person, roles: string[]) {
  return call(by, 'PUT', `/v1/users/${to.user_id}/roles`, { roles })
}

async function held(person: Person) {
  return house.asSuperuser<{ role_id: string; granted_by: string | null; granted_at: Date }>(
    'select role_id, granted_by, granted_at from user_role where user_id = $1 order by role_id',
    [person.user_id],
  )
}

async function assignments(person: Person) {
  const rows = await house.asSuperuser<{ data: unknown }>(
    `select data from event where type = 'role.assigned' and subject_id = $1 order by seq`,
    [person.user_id],
  )
  return rows.map((row) => row.data)
}

suite('the roles of a user', () => {
  test('are set at once, system roles and others; roles that stay keep their granter', async () => {
    const desk = await role('users:read')
    const before = await held(people.user)
    assert.equal((await call(people.user, 'GET', '/v1/users')).status, 403)
    const set = await give(owner, people.user, ['user', desk.toUpperCase(), desk])
    assert.equal(set.status, 200, set.text)
    assert.deepEqual(set.body.roles, [desk, 'user'])
    assert.equal((await call(people.user, 'GET', '/v1/users')).status, 200)
    const [given, kept] = await held(people.user)
    assert.deepEqual([given?.role_id, given?.granted_by], [desk, owner.user_id])
    assert.deepEqual(kept, before[0])
    const taken = await give(people.admin, people.user, ['user'])
    assert.deepEqual(taken.body.roles, ['user'])
    assert.equal((await call(people.user, 'GET', '/v1/users')).status, 403)
    assert.deepEqual(await assignments(people.user), [
      { added: [desk], removed: [] },
      { added: [], removed: [desk] },
    ])
    assert.deepEqual(
      (await give(owner, people.user, ['user'])).body,
      taken.body,
      'a change without effect emits no event',
    )
    assert.equal((await assignments(people.user)).length, 2)
  })

  test('cannot include a scope that the caller or their key lacks; the attempt is recorded (P1, P10)', async () => {
    const manager = people.auditor
    const [mine, beyond] = [await role('users:write', 'users:read'), await role('audit:read')]
    await give(owner, manager, [mine])
    for (const to of [people.user, manager]) {
      for (const wanted of ['admin', beyond]) {
        const refused = await give(manager, to, [...(await held(to)).map((row) => row.role_id), wanted])
        assert.deepEqual([refused.status, refused.body.code], [403, 'forbidden'], refused.text)
      }
    }
    assert.equal((await give(manager, people.user, ['user', mine])).status, 200)
    // The admin's key holds only users:write, so it cannot give more, whatever the admin holds.
    const key = await call(people.admin, 'POST', '/v1/api-keys', { name: 'narrow', scopes: ['users:write'] })
    const url = `/v1/users/${people.user.user_id}/roles`
    const api_key = String(key.body.key)
    const byKey = await house.call({ method: 'PUT', url, api_key, tenant_id, body: { roles: ['user', 'admin'] } })
    assert.deepEqual([byKey.status, byKey.body.code], [403, 'forbidden'])
    const refusals = await house.asSuperuser(
      `select from event where type = 'access.refused' and subject_type = 'user' and data ? 'scopes'`,
    )
    assert.equal(refusals.length, 5)
    await give(owner, people.user, ['user'])
  })

  test('must exist, and so must the user', async () => {
    const unknown = await give(owner, people.user, ['user', 'root', newId()])
    assert.deepEqual([unknown.status, unknown.body.code], [422, 'unprocessable'])
    for (const body of [{}, { roles: 'admin' }, { roles: [1] }, { roles: [], is_owner: true }]) {
      assert.equal((await call(owner, 'PUT', `/v1/users/${people.user.user_id}/roles`, body)).status, 400)
    }
    const missing = await call(owner, 'PUT', `/v1/users/${newId()}/roles`, { roles: ['root'] })
    assert.deepEqual([missing.status, missing.text], [404, '{"code":"not_found","message":"user not found"}'])
    assert.deepEqual(
      (await held(people.user)).map((row) => row.role_id),
      ['user'],
    )
  })

  test('of an owner keep admin, for every caller; other users can lose it (P16)', async () => {
    for (const by of [owner, people.admin]) {
      for (const roles of [[], ['user', 'auditor']]) {
        const reply = await give(by, owner, roles)
        assert.deepEqual([reply.status, reply.body.code], [409, 'last_owner'], reply.text)
      }
    }
    assert.equal((await give(owner, owner, ['admin', 'user'])).status, 200)
    assert.equal((await give(owner, people.admin, ['user'])).status, 200)
    assert.equal((await call(people.admin, 'GET', '/v1/users')).status, 403)
    assert.equal((await give(owner, people.admin, ['admin'])).status, 200)
  })

  test('set twice at once are those of one call, never a mixture', async () => {
    const [one, other] = [await role('users:read'), await role('audit:read')]
    for (let round = 0; round < 10; round += 1) {
      await give(owner, people.user, ['user'])
      const replies = await Promise.all([give(owner, people.user, [one]), give(people.admin, people.user, [other])])
      assert.deepEqual(
        replies.map((reply) => reply.status),
        [200, 200],
      )
      assert.equal((await held(people.user)).length, 1)
    }
    await give(owner, people.user, ['user'])
  })
})

import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { openHouse, type Person } from '../../test/support/house.ts'
import { newId } from '../kernel/id.ts'
import { systemRoleIds } from './role.ts'

const house = await openHouse()
const tenant = await house.tenant('roles')
const { tenant_id, owner, people } = tenant

async function call(person: Person, method: string, url: string, body?: unknown) {
  return house.call({ method, url, token: person.token, tenant_id, ...(body !== undefined && { body }) })
}

/** A role of the tenant, created by its owner. */
async function role(...scopes: string[]): Promise<string> {
  const reply = await call(owner, 'POST', '/v1/roles', { name: 'a role', scopes })
  assert.equal(reply.status, 201, reply.text)
  return String(reply.body.id)
}

/** Gives a user these roles and no others, in the database. */
async function hold(person: Person, ...role_ids: string[]): Promise<void> {
  await house.asSuperuser('delete from user_role where user_id = $1', [person.user_id])
  await house.asSuperuser('insert into user_role (tenant_id, user_id, role_id) select $1, $2, unnest($3::text[])', [
    tenant_id,
    person.user_id,
    role_ids,
  ])
}

async function eventsOf(subject_id: string) {
  return house.asSuperuser<{ type: string; data: Record<string, unknown> }>(
    'select type, data from event where subject_id = $1 order by seq',
    [subject_id],
  )
}

suite('a role', () => {
  test('is created with its scopes in order and each once, its blast radius, and an event', async () => {
    const scopes = ['users:write', 'audit:read', 'users:write']
    const made = await call(owner, 'POST', '/v1/roles', { name: 'Desk', description: 'helps', scopes })
    assert.equal(made.status, 201, made.text)
    const { id, created_at, updated_at, ...rest } = made.body
    assert.equal(created_at, updated_at)
    assert.deepEqual(rest, {
      name: 'Desk',
      description: 'helps',
      scopes: ['users:write', 'audit:read'],
      system: false,
      version: 1,
      blast_radius: { level: 'high', reasons: ['`users:write` writes users and what they hold'] },
    })
    assert.deepEqual(await eventsOf(String(id)), [
      { type: 'role.created', data: { scopes: ['users:write', 'audit:read'] } },
    ])
    assert.deepEqual((await call(owner, 'GET', `/v1/roles/${id}`)).body, made.body)
    assert.equal((await call(owner, 'GET', `/v1/roles/${String(id).toUpperCase()}`)).status, 200)
  })

  test('can have the name of another custom role', async () => {
    for (const name of ['Desk', 'Desk']) {
      const made = await call(owner, 'POST', '/v1/roles', { name, scopes: [] })
      assert.deepEqual([made.status, made.body.system], [201, false])
    }
  })

  const faulty: [string, unknown, number, unknown][] = [
    ['without a name', { scopes: [] }, 400, undefined],
    ['with a name of spaces', { name: '  ', scopes: [] }, 400, undefined],
    ['with a name of two lines', { name: 'a\nb', scopes: [] }, 400, undefined],
    ['without scopes', { name: 'a' }, 400, undefined],
    ['with 501 scopes (I2)', { name: 'a', scopes: Array(501).fill('users:read') }, 400, undefined],
    ['with an id', { name: 'a', scopes: [], id: 'root' }, 400, undefined],
    ['as a system role', { name: 'a', scopes: [], system: true }, 400, undefined],
    ['with an unknown scope', { name: 'a', scopes: ['users:read', 'users:fly'] }, 422, { scopes: ['users:fly'] }],
    [
      'with a scope that an admin lacks',
      { name: 'a', scopes: ['scim:provision'] },
      403,
      { scopes: ['scim:provision'] },
    ],
  ]
  for (const [name, body, status, details] of faulty) {
    test(`is not created ${name}`, async () => {
      const reply = await call(owner, 'POST', '/v1/roles', body)
      assert.equal(reply.status, status, reply.text)
      if (details !== undefined) assert.deepEqual(reply.body.details, details)
    })
  }

  test('accepts 500 scopes, and stores each once', async () => {
    const reply = await call(owner, 'POST', '/v1/roles', { name: 'a', scopes: Array(500).fill('users:read') })
    assert.deepEqual([reply.status, reply.body.scopes], [201, ['users:read']])
  })

  test('is listed page by page, system roles first', async () => {
    const seen: string[] = []
    let cursor = ''
    do {
      const page = await call(owner, 'GET', `/v1/roles?limit=3${cursor}`)
      assert.equal(page.status, 200, page.text)
      seen.push(...(page.body.data as { id: string }[]).map(({ id }) => id))
      cursor = page.body.has_more === true ? `&cursor=${encodeURIComponent(String(page.body.next_cursor))}` : ''
    } while (cursor !== '')
    const own = await house.asSuperuser<{ id: string }>(
      'select id from role where tenant_id = $1 and not system order by id',
      [tenant_id],
    )
    assert.deepEqual(seen, [...[...systemRoleIds].sort(), ...own.map(({ id }) => id)])
    const [admin] = (await call(owner, 'GET', '/v1/roles?limit=1')).body.data as { blast_radius: { level: string } }[]
    assert.equal(admin?.blast_radius.level, 'critical')
  })

  test('with an unknown id is not found, in any form of id; NUL is refused (J7, I3)', async () => {
    for (const id of [newId(), 'root', '%25', "'; --", '$1', 'a_min', '%20admin', 'x'.repeat(300)]) {
      const url = `/v1/roles/${id.startsWith('%') ? id : encodeURIComponent(id)}`
      for (const [method, body] of [
        ['GET', undefined],
        ['PATCH', { name: 'x' }],
        ['DELETE', undefined],
      ] as const) {
        const reply = await call(owner, method, url, body)
        assert.deepEqual([reply.status, reply.text], [404, '{"code":"not_found","message":"role not found"}'], id)
      }
    }
    assert.equal((await call(owner, 'GET', '/v1/roles/%00')).status, 400)
  })
})

suite('updating a role', () => {
  test('changes the sent fields and emits an event; a change without effect emits none', async () => {
    const id = await role('users:read', 'audit:read')
    const named = await call(owner, 'PATCH', `/v1/roles/${id}`, { name: 'another' })
    assert.equal(named.status, 200, named.text)
    assert.deepEqual([named.body.name, named.body.scopes], ['another', ['users:read', 'audit:read']])
    const scopes = ['settings:write', 'users:read']
    const widened = await call(owner, 'PATCH', `/v1/roles/${id}`, { description: 'more', scopes })
    assert.deepEqual(widened.body.scopes, ['users:read', 'settings:write'])
    assert.deepEqual(widened.body.blast_radius, {
      level: 'critical',
      reasons: ['`settings:write` changes the rules of the whole tenant'],
    })
    for (const body of [undefined, {}, { name: 'another' }, { scopes }]) {
      assert.deepEqual((await call(owner, 'PATCH', `/v1/roles/${id}`, body)).body, widened.body)
    }
    assert.deepEqual((await eventsOf(id)).slice(1), [
      { type: 'role.updated', data: { fields: ['name'], scopes_added: [], scopes_removed: [] } },
      {
        type: 'role.updated',
        data: { fields: ['description', 'scopes'], scopes_added: ['settings:write'], scopes_removed: ['audit:read'] },
      },
    ])
  })

  test('of the system is forbidden in any spelling of its id, and by the database (P2)', async () => {
    await hold(people.auditor)
    for (const id of ['admin', 'ADMIN', 'Admin', '%61dmin', 'user', 'approver', 'auditor']) {
      for (const [method, body] of [
        ['PATCH', { scopes: ['users:read'] }],
        ['PATCH', {}],
        ['DELETE', undefined],
      ] as const) {
        const reply = await call(owner, method, `/v1/roles/${id}`, body)
        assert.deepEqual([reply.status, reply.body.code], [403, 'forbidden'], `${method} ${id}: ${reply.text}`)
      }
    }
    await assert.rejects(house.asSuperuser(`update role set name = 'x' where id = 'admin'`), /never changed/)
    const refusals = await house.asSuperuser(
      `select from event where type = 'access.refused' and subject_type = 'role' and subject_id = any($1)`,
      [systemRoleIds],
    )
    assert.equal(refusals.length, 21)
  })

  test('names only an unknown scope, before any other fault; too many scopes are refused (P1, I2)', async () => {
    const scopes = ['users:fly', 'scim:provision', 'users:read']
    for (const id of [await role(), 'admin', newId()]) {
      const reply = await call(owner, 'PATCH', `/v1/roles/${id}`, { scopes })
      assert.deepEqual(
        [reply.status, reply.body.code, reply.body.details],
        [422, 'unprocessable', { scopes: ['users:fly'] }],
      )
    }
    const many = await call(owner, 'PATCH', `/v1/roles/${await role()}`, { scopes: Array(10_000).fill('users:read') })
    assert.equal(many.status, 400)
  })

  test('with a scope that the editor lacks is forbidden and recorded; the editor can add only their own scopes (P1)', async () => {
    const manager = people.auditor
    await hold(manager, await role('roles:write', 'users:read'))
    const id = await role('audit:read')
    const refused = await call(manager, 'PATCH', `/v1/roles/${id}`, { scopes: ['audit:read', 'policies:write'] })
    assert.deepEqual([refused.status, refused.body.code], [403, 'forbidden'])
    assert.deepEqual(refused.body.details, { scopes: ['policies:write'] })
    const last = (await eventsOf(id)).at(-1)
    assert.deepEqual([last?.type, last?.data.scopes], ['access.refused', ['policies:write']])
    const added = await call(manager, 'PATCH', `/v1/roles/${id}`, { scopes: ['audit:read', 'users:read'] })
    assert.deepEqual([added.status, added.body.scopes], [200, ['users:read', 'audit:read']])
    assert.equal((await call(manager, 'POST', '/v1/roles', { name: 'x', scopes: ['audit:read'] })).status, 403)
  })

  test('that the editor holds, directly or by a group, can only remove scopes (P1)', async () => {
    const manager = people.auditor
    const own = await role('roles:write', 'users:read')
    const byGroup = await role('audit:read', 'grants:read')
    await hold(manager, own)
    const group = String((await call(owner, 'POST', '/v1/groups', { name: 'managers' })).body.id)
    await call(owner, 'PUT', `/v1/groups/${group}/role-mappings`, { role_ids: [byGroup] })
    await call(owner, 'POST', `/v1/groups/${group}/members`, { user_id: manager.user_id })
    for (const [id, scopes] of [
      [own, ['roles:write', 'users:read', 'audit:read']],
      [byGroup, ['audit:read', 'users:read']],
    ] as const) {
      const refused = await call(manager, 'PATCH', `/v1/roles/${id}`, { scopes })
      assert.deepEqual([refused.status, refused.body.code], [403, 'forbidden'], refused.text)
      const shrunk = await call(manager, 'PATCH', `/v1/roles/${id}`, { scopes: scopes.slice(0, 1) })
      assert.deepEqual([shrunk.status, shrunk.body.scopes], [200, scopes.slice(0, 1)])
    }
  })

  test('twice at once keeps both changes (P3)', async () => {
    const id = await role('users:read', 'audit:read')
    for (let round = 0; round < 10; round += 1) {
      const scopes = round % 2 === 0 ? ['users:read'] : ['users:read', 'audit:read']
      const replies = await Promise.all([
        call(owner, 'PATCH', `/v1/roles/${id}`, { scopes }),
        call(owner, 'PATCH', `/v1/roles/${id}`, { name: `name ${round}` }),
      ])
      assert.deepEqual(
        replies.map((reply) => reply.status),
        [200, 200],
      )
      const { body } = await call(owner, 'GET', `/v1/roles/${id}`)
      assert.deepEqual([body.scopes, body.name], [scopes, `name ${round}`])
    }
  })
})

suite('deleting a role', () => {
  test('that is unused succeeds, once', async () => {
    const id = await role('users:read')
    await call(owner, 'PATCH', `/v1/roles/${id}`, { scopes: ['users:read', 'audit:read'] })
    const gone = await call(owner, 'DELETE', `/v1/roles/${id}`)
    assert.deepEqual([gone.status, gone.text], [204, ''])
    assert.equal((await call(owner, 'DELETE', `/v1/roles/${id}`)).status, 404)
    assert.equal((await eventsOf(id)).at(-1)?.type, 'role.deleted')
  })

  test('that a user holds or a group gives is a conflict, and changes nothing', async () => {
    const [held, mapped] = [await role('users:read'), await role('users:read')]
    await hold(people.auditor, held)
    const group = String((await call(owner, 'POST', '/v1/groups', { name: 'a group' })).body.id)
    await call(owner, 'PUT', `/v1/groups/${group}/role-mappings`, { role_ids: [mapped] })
    for (const id of [held, mapped]) {
      const reply = await call(owner, 'DELETE', `/v1/roles/${id}`)
      assert.deepEqual([reply.status, reply.body.code], [409, 'role_in_use'], reply.text)
      assert.equal((await call(owner, 'GET', `/v1/roles/${id}`)).status, 200)
    }
    await call(owner, 'DELETE', `/v1/groups/${group}`)
    assert.equal((await call(owner, 'DELETE', `/v1/roles/${mapped}`)).status, 204)
  })

  test('while it is being given succeeds, or the role is given, but not both', async () => {
    for (let round = 0; round < 10; round += 1) {
      const id = await role('users:read')
      const [gone, given] = await Promise.all([
        call(owner, 'DELETE', `/v1/roles/${id}`),
        call(owner, 'PUT', `/v1/users/${people.user.user_id}/roles`, { roles: ['user', id] }),
      ])
      const held = await house.asSuperuser('select from user_role where role_id = $1', [id])
      const there = await house.asSuperuser('select from role where id = $1', [id])
      assert.deepEqual([there.length, held.length], gone?.status === 204 ? [0, 0] : [1, 1])
      assert.ok(gone?.status === 204 ? [409, 422].includes(given?.status ?? 0) : gone?.status === 409, given?.text)
    }
  })
})

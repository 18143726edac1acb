import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { openHouse, type Person } from '../../test/support/house.ts'
import { newId } from '../kernel/id.ts'

const house = await openHouse()
const tenant = await house.tenant('members of groups')
const { tenant_id, owner, people } = tenant
const stranger = await house.tenant('strangers')

async function call(person: Person, method: string, url: string, body?: unknown) {
  return house.call({ method, url, token: person.token, tenant_id, ...(body !== undefined && { body }) })
}

async function group(...role_ids: string[]): Promise<string> {
  const made = await call(owner, 'POST', '/v1/groups', { name: 'a group' })
  assert.equal(made.status, 201, made.text)
  const mapped = await call(owner, 'PUT', `/v1/groups/${made.body.id}/role-mappings`, { role_ids })
  assert.equal(mapped.status, 200, mapped.text)
  return String(made.body.id)
}

const add = (by: Person, id: string, { user_id }: { user_id: string }) =>
  call(by, 'POST', `/v1/groups/${id}/members`, { user_id })

async function role(...scopes: string[]): Promise<string> {
  return String((await call(owner, 'POST', '/v1/roles', { name: 'a role', scopes })).body.id)
}

async function eventsOf(subject_id: string) {
  return house.asSuperuser<{ type: string; data: Record<string, unknown> }>(
    'select type, data from event where subject_id = $1 order by seq',
    [subject_id],
  )
}

/** A user who reads and writes groups, and can request access. */
const manager = people.auditor
await call(owner, 'PUT', `/v1/users/${manager.user_id}/roles`, {
  roles: [await role('groups:read', 'groups:write', 'requests:create')],
})

suite('a member', () => {
  test('is added, counted, listed and removed', async () => {
    const id = await group()
    const added = await add(owner, id, { user_id: people.user.user_id.toUpperCase() })
    assert.equal(added.status, 201, added.text)
    const { created_at, ...rest } = added.body
    assert.match(String(created_at), /Z$/)
    assert.deepEqual(rest, { group_id: id, user_id: people.user.user_id, membership_source: 'local' })
    for (const person of [people.approver, people.admin]) assert.equal((await add(owner, id, person)).status, 201)
    assert.equal((await call(owner, 'GET', `/v1/groups/${id}`)).body.member_count, 3)
    const first = await call(owner, 'GET', `/v1/groups/${id}/members?limit=2`)
    const cursor = encodeURIComponent(String(first.body.next_cursor))
    const second = await call(owner, 'GET', `/v1/groups/${id}/members?limit=2&cursor=${cursor}`)
    assert.deepEqual(
      [first, second].flatMap((page) => (page.body.data as { user_id: string }[]).map(({ user_id }) => user_id)),
      [people.user, people.approver, people.admin].map(({ user_id }) => user_id).sort(),
    )
    assert.equal(second.body.has_more, false)
    const url = `/v1/groups/${id}/members/${people.user.user_id}`
    assert.deepEqual([(await call(owner, 'DELETE', url)).status, (await call(owner, 'DELETE', url)).status], [204, 404])
    assert.equal((await call(owner, 'GET', `/v1/groups/${id}`)).body.member_count, 2)
    assert.deepEqual((await eventsOf(id)).at(-1), {
      type: 'group.member_removed',
      data: { user_id: people.user.user_id },
    })
    assert.equal((await call(owner, 'GET', `/v1/groups/${newId()}/members`)).status, 404)
  })

  test('of another tenant, an unknown user and an unknown group get the same 404 (T5)', async () => {
    const id = await group()
    const replies = await Promise.all([
      add(owner, id, { user_id: stranger.people.user.user_id }),
      add(owner, id, { user_id: newId() }),
      add(owner, newId(), people.user),
    ])
    for (const reply of replies) {
      assert.deepEqual([reply.status, reply.text], [404, '{"code":"not_found","message":"group or user not found"}'])
    }
    await assert.rejects(
      house.asSuperuser(
        `insert into group_member (tenant_id, group_id, user_id, membership_source) values ($1, $2, $3, 'local')`,
        [tenant_id, id, stranger.people.user.user_id],
      ),
      /group_member_user_id_fk/,
    )
    for (const body of [{}, { user_id: 'x' }, { user_id: people.user.user_id, membership_source: 'scim' }]) {
      assert.equal((await call(owner, 'POST', `/v1/groups/${id}/members`, body)).status, 400)
    }
  })

  test('a deleted user is unknown to groups and roles', async () => {
    const user_id = newId()
    await house.asSuperuser(
      `insert into tenant_user (tenant_id, id, email, email_key, name, auth_provider, active, deleted_at)
        values ($1, $2, 'gone@example.com', 'gone@example.com', 'Gone', 'local', false, clock_timestamp())`,
      [tenant_id, user_id],
    )
    assert.equal((await add(owner, await group(), { user_id })).status, 404)
    assert.equal((await call(owner, 'PUT', `/v1/users/${user_id}/roles`, { roles: ['user'] })).status, 404)
  })

  test('added twice at once is added once, and the other call gets a conflict (R11)', async () => {
    const id = await group()
    const replies = await Promise.all(Array.from({ length: 6 }, () => add(owner, id, people.user)))
    assert.deepEqual(
      replies.map(({ status, body }) => (status === 201 ? 201 : body.code)).sort(),
      [201, ...Array(5).fill('already_member')].sort(),
    )
    const again = await add(owner, id, people.user)
    assert.deepEqual([again.status, again.body.code], [409, 'already_member'])
    assert.equal((await call(owner, 'GET', `/v1/groups/${id}`)).body.member_count, 1)
    assert.equal((await eventsOf(id)).filter(({ type }) => type === 'group.member_added').length, 1)
  })

  test('has the scopes of the group, by token and by key, while the membership and the mapping last', async () => {
    const id = await group('auditor')
    const sees = async () => (await call(people.user, 'GET', '/v1/users')).status
    assert.equal(await sees(), 403)
    await add(owner, id, people.user)
    assert.equal(await sees(), 200)
    const made = await call(owner, 'GET', `/v1/users/${people.user.user_id}`)
    assert.deepEqual(made.body.roles, ['user'], 'the record shows their own')
    await call(owner, 'PUT', `/v1/groups/${id}/role-mappings`, {
      role_ids: [await role('users:read', 'api_keys:write')],
    })
    assert.equal(await sees(), 200)
    const key = await call(people.user, 'POST', '/v1/api-keys', { name: 'a key', scopes: ['users:read'] })
    const byKey = () =>
      house
        .call({ method: 'GET', url: '/v1/users', api_key: String(key.body.key), tenant_id })
        .then(({ status }) => status)
    assert.equal(await byKey(), 200)
    await call(owner, 'DELETE', `/v1/groups/${id}/members/${people.user.user_id}`)
    assert.deepEqual([await sees(), await byKey()], [403, 403])
  })

  test('is not added by a caller who lacks a scope of the group, to themselves or others (P9)', async () => {
    const id = await group('user', 'admin')
    for (const person of [manager, people.user]) {
      const refused = await add(manager, id, person)
      assert.deepEqual([refused.status, refused.body.code], [403, 'forbidden'], refused.text)
      assert.ok((refused.body.details as { scopes: string[] }).scopes.includes('roles:write'))
    }
    assert.equal((await eventsOf(id)).filter(({ type }) => type === 'access.refused').length, 2)
    assert.equal((await call(manager, 'GET', `/v1/groups/${id}`)).body.member_count, 0)
    assert.equal((await add(manager, await group('user'), people.user)).status, 201)
    assert.equal((await add(manager, await group(), manager)).status, 201)
    // A key has its own scopes, not its creator's.
    const key = await call(owner, 'POST', '/v1/api-keys', { name: 'narrow', scopes: ['groups:write'] })
    const url = `/v1/groups/${id}/members`
    const body = { user_id: people.user.user_id }
    const byKey = await house.call({ method: 'POST', url, api_key: String(key.body.key), tenant_id, body })
    assert.equal(byKey.status, 403)
  })
})

suite('the roles that a group gives', () => {
  test('are replaced; unchanged mappings keep their author; a change without effect emits no event', async () => {
    const id = await group('user', 'auditor')
    const url = `/v1/groups/${id}/role-mappings`
    const rows = () =>
      house.asSuperuser('select role_id, mapped_by, mapped_at from group_role where group_id = $1 order by role_id', [
        id,
      ])
    const [before] = await rows()
    const set = await call(people.admin, 'PUT', url, { role_ids: ['Auditor', 'approver', 'approver'] })
    assert.deepEqual([set.status, set.body.role_mappings], [200, ['approver', 'auditor']])
    const [given, kept] = await rows()
    assert.equal(given?.mapped_by, people.admin.user_id)
    assert.deepEqual(kept, before)
    assert.deepEqual((await call(owner, 'PUT', url, { role_ids: ['auditor', 'approver'] })).body, set.body)
    assert.deepEqual((await eventsOf(id)).slice(2), [
      { type: 'group.role_mappings_changed', data: { added: ['approver'], removed: ['user'] } },
    ])
  })

  test('cannot include a scope that the caller lacks (P9)', async () => {
    const id = await group('auditor')
    const url = `/v1/groups/${id}/role-mappings`
    const refused = await call(manager, 'PUT', url, { role_ids: ['auditor', 'admin'] })
    assert.deepEqual([refused.status, refused.body.code], [403, 'forbidden'], refused.text)
    assert.equal((await eventsOf(id)).at(-1)?.type, 'access.refused')
    assert.deepEqual((await call(manager, 'PUT', url, { role_ids: ['user', 'auditor'] })).status, 200)
    assert.deepEqual((await call(owner, 'PUT', url, { role_ids: [] })).body.role_mappings, [])
    assert.equal((await call(manager, 'PUT', url, { role_ids: ['auditor'] })).status, 403)
  })

  test('must exist, and so must the group', async () => {
    const id = await group('user')
    const [foreign] = await house.asSuperuser<{ id: string }>(
      `insert into role (tenant_id, id, name, scopes) values ($1, $2, 'theirs', '{}') returning id`,
      [stranger.tenant_id, newId()],
    )
    for (const role_id of ['root', newId(), foreign?.id]) {
      const reply = await call(owner, 'PUT', `/v1/groups/${id}/role-mappings`, { role_ids: ['user', role_id] })
      assert.deepEqual([reply.status, reply.body.details], [422, { roles: [role_id] }])
    }
    const many = await call(owner, 'PUT', `/v1/groups/${id}/role-mappings`, { role_ids: Array(501).fill('user') })
    assert.equal(many.status, 400)
    assert.equal((await call(owner, 'PUT', `/v1/groups/${newId()}/role-mappings`, { role_ids: [] })).status, 404)
  })

  test('set twice at once are those of one call, never a mixture', async () => {
    const id = await group()
    const url = `/v1/groups/${id}/role-mappings`
    for (let round = 0; round < 10; round += 1) {
      await call(owner, 'PUT', url, { role_ids: [] })
      const replies = await Promise.all([
        call(owner, 'PUT', url, { role_ids: ['user'] }),
        call(people.admin, 'PUT', url, { role_ids: ['auditor'] }),
      ])
      assert.deepEqual(
        replies.map(({ status }) => status),
        [200, 200],
      )
      assert.equal(((await call(owner, 'GET', `/v1/groups/${id}`)).body.role_mappings as string[]).length, 1)
    }
  })
})

import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { openHouse, type Person } from '../../test/support/house.ts'
import { newId } from '../kernel/id.ts'

const house = await openHouse()
const tenant = await house.tenant('groups')
const { tenant_id, owner, people } = tenant

async function call(person: Person, method: string, url: string, body?: unknown) {
  return house.call({ method, url, token: person.token, tenant_id, ...(body !== undefined && { body }) })
}

/** A group as a directory would have written it, with one member. */
async function syncedGroup(source: string): Promise<string> {
  const id = newId()
  await house.asSuperuser('insert into tenant_group (tenant_id, id, name, source) values ($1, $2, $3, $4)', [
    tenant_id,
    id,
    'from elsewhere',
    source,
  ])
  await house.asSuperuser(
    'insert into group_member (tenant_id, group_id, user_id, membership_source) values ($1, $2, $3, $4)',
    [tenant_id, id, people.auditor.user_id, source],
  )
  return id
}

const add = (by: Person, id: string, { user_id }: { user_id: string }) =>
  call(by, 'POST', `/v1/groups/${id}/members`, { user_id })

async function eventsOf(subject_id: string) {
  return house.asSuperuser<{ type: string; data: Record<string, unknown> }>(
    'select type, data from event where subject_id = $1 order by seq',
    [subject_id],
  )
}

suite('a group', () => {
  test('is created empty and local, changed, and deleted with the access that it gave', async () => {
    const made = await call(owner, 'POST', '/v1/groups', { name: 'Night shift' })
    assert.equal(made.status, 201, made.text)
    const { id, created_at, updated_at, ...rest } = made.body
    assert.equal(created_at, updated_at)
    assert.deepEqual(rest, {
      ...{ name: 'Night shift', source: 'local', member_count: 0, role_mappings: [], members_notified: true },
    })
    const url = `/v1/groups/${id}`
    assert.deepEqual((await call(owner, 'GET', url)).body, made.body)
    const changed = await call(owner, 'PATCH', url, { description: 'from ten to six' })
    assert.deepEqual([changed.status, changed.body.description], [200, 'from ten to six'])
    for (const body of [undefined, {}, { name: 'Night shift' }]) {
      assert.deepEqual((await call(owner, 'PATCH', url, body)).body, changed.body)
    }
    const emptied = await call(owner, 'PATCH', url, { description: '', name: 'Nights' })
    assert.deepEqual([emptied.body.name, 'description' in emptied.body], ['Nights', false])
    await call(owner, 'PUT', `${url}/role-mappings`, { role_ids: ['auditor'] })
    await add(owner, String(id), people.user)
    assert.equal((await call(people.user, 'GET', '/v1/users')).status, 200)
    assert.equal((await call(owner, 'DELETE', url)).status, 204)
    assert.equal((await call(owner, 'DELETE', url)).status, 404)
    assert.equal((await call(people.user, 'GET', '/v1/users')).status, 403)
    assert.deepEqual(
      (await eventsOf(String(id))).map(({ type, data }) => [type, data]),
      [
        ['group.created', { source: 'local' }],
        ['group.updated', { fields: ['description'] }],
        ['group.updated', { fields: ['description', 'name'] }],
        ['group.role_mappings_changed', { added: ['auditor'], removed: [] }],
        ['group.member_added', { user_id: people.user.user_id, membership_source: 'local' }],
        ['group.deleted', {}],
      ],
    )
  })

  const faulty: [string, unknown][] = [
    ['without a name', {}],
    ['with a name of spaces', { name: '   ' }],
    ['with a source', { name: 'a', source: 'scim' }],
    ['with members', { name: 'a', member_count: 3 }],
    ['with a description that is null', { name: 'a', description: null }],
    ['with members notified who knows whether', { name: 'a', members_notified: null }],
  ]
  for (const [name, body] of faulty) {
    test(`is not created ${name}`, async () => {
      assert.equal((await call(owner, 'POST', '/v1/groups', body)).status, 400)
    })
  }

  test('is listed page by page, by exact source; a cursor is valid only for its filter (T8, J7)', async () => {
    const scim = await syncedGroup('scim')
    const list = async (query: string) => {
      const ids: string[] = []
      let cursor = ''
      do {
        const page = await call(owner, 'GET', `/v1/groups?limit=2${query}${cursor}`)
        assert.equal(page.status, 200, page.text)
        ids.push(...(page.body.data as { id: string }[]).map(({ id }) => id))
        cursor = page.body.has_more === true ? `&cursor=${encodeURIComponent(String(page.body.next_cursor))}` : ''
      } while (cursor !== '')
      return ids
    }
    const kept = async (where: string) =>
      (await house.asSuperuser<{ id: string }>(`select id from tenant_group where ${where} order by id`)).map(
        ({ id }) => id,
      )
    for (const name of ['one', 'two', 'three']) await call(owner, 'POST', '/v1/groups', { name })
    assert.deepEqual(await list(''), await kept('true'))
    assert.deepEqual(await list('&source=local'), await kept(`source = 'local'`))
    assert.deepEqual(await list('&source=scim'), [scim])
    for (const source of ['%25', 'loca_', "'", '%5C', '$1', 'LOCAL', '']) {
      assert.deepEqual(await list(`&source=${encodeURIComponent(source)}`), [], source)
    }
    const { body } = await call(owner, 'GET', '/v1/groups?limit=1&source=local')
    const cursor = encodeURIComponent(String(body.next_cursor))
    assert.equal((await call(owner, 'GET', `/v1/groups?limit=1&cursor=${cursor}`)).status, 400)
  })

  for (const source of ['scim', 'identity_provider']) {
    test(`of source ${source} can be changed only there, except for its role mappings and notifications (P9)`, async () => {
      const id = await syncedGroup(source)
      const url = `/v1/groups/${id}`
      const member = `${url}/members/${people.auditor.user_id}`
      const before = (await call(owner, 'GET', url)).body
      for (const [method, at, body] of [
        ['PATCH', url, { name: 'mine' }],
        ['PATCH', url, { description: 'mine', members_notified: false }],
        ['DELETE', url, undefined],
        ['POST', `${url}/members`, { user_id: people.user.user_id }],
        ['POST', `${url}/members`, { user_id: people.auditor.user_id }],
        ['DELETE', member, undefined],
      ] as const) {
        const reply = await call(owner, method, at, body)
        assert.deepEqual([reply.status, reply.body.code], [403, 'forbidden'], `${method} ${at} ${reply.text}`)
      }
      assert.deepEqual((await call(owner, 'GET', url)).body, before)
      const mapped = await call(owner, 'PUT', `${url}/role-mappings`, { role_ids: ['user'] })
      assert.deepEqual([mapped.status, mapped.body.role_mappings], [200, ['user']])
      assert.equal((await eventsOf(id)).filter(({ type }) => type === 'access.refused').length, 6)
    })
  }
})

suite('whether the members of a group are notified', () => {
  const made = async (more: object = {}) => (await call(owner, 'POST', '/v1/groups', { name: 'Quiet', ...more })).body
  const patch = (id: unknown, body: object, by = owner) => call(by, 'PATCH', `/v1/groups/${id}`, body)
  const updates = async (id: unknown) =>
    (await eventsOf(String(id))).flatMap(({ type, data }) => (type === 'group.updated' ? [data] : []))

  test('is said when the group is made, or changed later, and is on record', async () => {
    const { id, members_notified } = await made({ members_notified: false })
    assert.equal(members_notified, false)
    assert.deepEqual((await eventsOf(String(id)))[0]?.data, { source: 'local', members_notified: false })
    const on = await patch(id, { members_notified: true })
    assert.deepEqual([on.status, on.body.members_notified], [200, true])
    assert.deepEqual((await call(owner, 'GET', `/v1/groups/${id}`)).body, on.body)
    assert.deepEqual((await patch(id, { members_notified: true })).body, on.body)
    const off = await patch(id, { name: 'Quiet', members_notified: false, description: 'by night' })
    assert.deepEqual([off.body.members_notified, off.body.description], [false, 'by night'])
    assert.equal((await patch(id, { name: 'Nights' })).body.members_notified, false)
    const mapped = await call(owner, 'PUT', `/v1/groups/${id}/role-mappings`, { role_ids: ['approver'] })
    assert.equal(mapped.body.members_notified, false)
    assert.deepEqual(await updates(id), [
      { fields: ['members_notified'], members_notified: true },
      { fields: ['description', 'members_notified'], members_notified: false },
      { fields: ['name'] },
    ])
    assert.equal((await patch(id, { members_notified: null })).status, 400)
  })

  for (const source of ['scim', 'identity_provider']) {
    test(`is decided here for a group of source ${source}, whose name and description may be sent back`, async () => {
      const id = await syncedGroup(source)
      const before = (await call(owner, 'GET', `/v1/groups/${id}`)).body
      const { status, body } = await patch(id, { ...before, description: '', members_notified: false })
      assert.deepEqual([status, body], [200, { ...before, members_notified: false, updated_at: body.updated_at }])
      assert.deepEqual((await patch(id, {})).body, body)
      assert.deepEqual(await updates(id), [{ fields: ['members_notified'], members_notified: false }])
    })
  }

  test('changes only where the group is as it was read (If-Match)', async () => {
    const { id } = await made()
    const url = `/v1/groups/${id}`
    const { headers } = await call(owner, 'GET', url)
    const send = (members_notified: boolean) =>
      house.call({
        ...{ method: 'PATCH', url, token: owner.token, tenant_id, body: { members_notified } },
        headers: { 'if-match': String(headers.etag) },
      })
    const off = await send(false)
    assert.deepEqual([off.status, off.body.members_notified], [200, false])
    assert.notEqual(off.headers.etag, headers.etag)
    assert.equal((await send(true)).status, 412)
    assert.equal((await updates(id)).length, 1)
  })

  test('needs groups:write, and no scope that the group gives', async () => {
    const { id } = await made()
    await call(owner, 'PUT', `/v1/groups/${id}/role-mappings`, { role_ids: ['admin'] })
    assert.equal((await patch(id, { members_notified: false }, people.auditor)).status, 403)
    const { key } = (await call(owner, 'POST', '/v1/api-keys', { name: 'groups', scopes: ['groups:write'] })).body
    const sent = { method: 'PATCH', url: `/v1/groups/${id}`, tenant_id, body: { members_notified: false } }
    assert.equal((await house.call({ ...sent, api_key: String(key) })).status, 200)
  })

  test('is shown by the group, and not by the list of groups', async () => {
    const { body } = await call(owner, 'GET', '/v1/groups?q=Quiet')
    const [first] = body.data as object[]
    assert.ok(first !== undefined && !('members_notified' in first))
  })
})

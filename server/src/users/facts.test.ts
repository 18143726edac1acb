import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { openHouse, type Person } from '../../test/support/house.ts'
import { newId } from '../kernel/id.ts'
import { readFactChange } from './fact.ts'

/** Department, title and manager of a user: who may state them, how they are spelled, and how they are shown. */
const house = await openHouse()
const { tenant_id, owner, people } = await house.tenant('facts')
const [ada, boss] = [people.user, people.approver]

const call = (by: Person, method: string, url: string, body?: unknown, headers: Record<string, string> = {}) =>
  house.call({ method, url, token: by.token, tenant_id, headers, ...(body !== undefined && { body }) })
const patch = (body: unknown, about = ada, by = owner) => call(by, 'PATCH', `/v1/users/${about.user_id}`, body)
const shown = async (about = ada) => {
  const { department, title, manager_id } = (await call(owner, 'GET', `/v1/users/${about.user_id}`)).body
  return { department, title, manager_id }
}
const none = { department: undefined, title: undefined, manager_id: undefined }
const eventsOf = (id: string) =>
  house.asSuperuser<{ data: unknown }>(
    `select data from event where type = 'user.updated' and subject_id = $1 order by seq`,
    [id],
  )
const newUser = async (more: object = {}) => {
  const body = { email: `${newId()}@example.com`, name: 'Somebody', roles: ['user'], auth_provider: 'oidc', ...more }
  return String((await call(owner, 'POST', '/v1/users', body)).body.id)
}

suite('the facts of a user', () => {
  test('are left out until somebody states them, and again once they are removed', async () => {
    assert.deepEqual(await shown(), none)
    const facts = { department: 'Finance', title: 'Controller', manager_id: boss.user_id }
    const changed = await patch(facts)
    assert.equal(changed.status, 200, changed.text)
    assert.deepEqual(await shown(), facts)
    const list = (await call(owner, 'GET', '/v1/users')).body.data as Record<string, unknown>[]
    const { department, title, manager_id } = list.find(({ id }) => id === ada.user_id) ?? {}
    assert.deepEqual({ department, title, manager_id }, facts)
    assert.equal((await patch({ department: null, title: null, manager_id: null })).status, 200)
    assert.deepEqual(await shown(), none)
    assert.deepEqual(
      (await eventsOf(ada.user_id)).map(({ data }) => data),
      [{ fields: Object.keys(facts) }, { fields: Object.keys(facts) }],
    )
  })

  test('can be sent back with the whole record, which changes nothing', async () => {
    await patch({ title: 'Controller', manager_id: boss.user_id })
    const before = await eventsOf(ada.user_id)
    const read = await call(owner, 'GET', `/v1/users/${ada.user_id}`)
    const sent = await call(owner, 'PATCH', `/v1/users/${ada.user_id}`, read.body, {
      'if-match': String(read.headers.etag),
    })
    assert.deepEqual([sent.status, sent.body], [200, read.body])
    assert.equal((await eventsOf(ada.user_id)).length, before.length)
  })

  test('are stated for users of a provider too', async () => {
    for (const auth_provider of ['oidc', 'saml']) {
      const user = { ...ada, user_id: await newUser({ auth_provider }) }
      assert.equal((await patch({ department: 'Finance' }, user)).status, 200)
      assert.equal((await shown(user)).department, 'Finance')
    }
  })

  test('are kept in NFC', async () => {
    await patch({ department: 'Bu\u0308ro', title: 'Controller' })
    assert.equal((await shown()).department, 'B\u00fcro')
  })
})

suite('nobody states', () => {
  test('their own facts, be it with a token or a key, and the refusal is on record', async () => {
    for (const body of [{ department: 'X' }, { title: 'X' }, { manager_id: boss.user_id }]) {
      const url = `/v1/users/${owner.user_id}`
      const byKey = await house.call({ method: 'PATCH', url, api_key: owner.api_key, tenant_id, body })
      for (const { status, body: problem } of [await patch(body, owner, owner), byKey])
        assert.deepEqual([status, problem.code], [403, 'forbidden'])
    }
    assert.deepEqual(await shown(owner), none)
    const refused = await house.asSuperuser(`select from event where type = 'access.refused' and subject_id = $1`, [
      owner.user_id,
    ])
    assert.ok(refused.length >= 3)
    await patch({ title: 'Founder' }, owner, people.admin)
    assert.deepEqual(
      [(await patch({ title: null }, owner, owner)).status, (await shown(owner)).title],
      [403, 'Founder'],
    )
    assert.equal((await patch({ name: 'Owner', title: 'Founder' }, owner, owner)).status, 200, 'the present one')
  })

  test('facts without `users:write`', async () => {
    for (const by of [people.user, people.approver, people.auditor])
      assert.equal((await patch({ title: 'X' }, people.admin, by)).status, 403)
  })

  test('facts in a new user', async () => {
    const body = { email: `${newId()}@example.com`, name: 'New', roles: ['user'], auth_provider: 'oidc', title: 'X' }
    assert.equal((await call(owner, 'POST', '/v1/users', body)).status, 400)
  })

  const faulty: [what: string, body: object, pointer: string][] = [
    ['an empty department', { department: '' }, '/department'],
    ['a blank one', { department: ' \u00a0 ' }, '/department'],
    ['one that nobody sees', { department: '\u3164' }, '/department'],
    ['two lines', { title: 'a\nb' }, '/title'],
    ['a mark of the direction', { title: 'a\u202eb' }, '/title'],
    ['a character without width', { title: 'Dir\u200bector' }, '/title'],
    ['a null character', { title: 'a\u0000' }, '/title'],
    ['too long a title', { title: 'x'.repeat(201) }, '/title'],
    ['a title that is too long as it is kept', { title: '\ufb2c'.repeat(200) }, '/title'],
    ['a number', { department: 1 }, '/department'],
    ['no id', { manager_id: 'boss' }, '/manager_id'],
    ['a user as their own manager', { manager_id: ada.user_id.toUpperCase() }, '/manager_id'],
  ]
  for (const [what, body, pointer] of faulty)
    test(what, async () => {
      const { status, body: problem } = await patch(body)
      const { fields = [] } = (problem.details ?? {}) as { fields?: { pointer: string }[] }
      assert.deepEqual([status, fields.map((field) => field.pointer)], [400, [pointer]], JSON.stringify(problem))
    })

  test('a manager of another tenant, who is like one that does not exist', async () => {
    const other = await house.tenant('other')
    const gone = { ...ada, user_id: await newUser() }
    await call(owner, 'DELETE', `/v1/users/${gone.user_id}`)
    const answers: unknown[][] = []
    for (const id of [other.owner.user_id, newId(), gone.user_id]) {
      const { status, body } = await patch({ manager_id: id })
      answers.push([status, body.code, String(body.message).replace(id, '…')])
    }
    const [first] = answers
    assert.deepEqual(answers, [first, first, first])
    assert.deepEqual(first?.slice(0, 2), [422, 'unprocessable'])
  })
})

suite('a manager', () => {
  test('who is deactivated stays the manager, and one who is deleted is not known any more', async () => {
    const manager_id = await newUser()
    await patch({ manager_id })
    await call(owner, 'PATCH', `/v1/users/${manager_id}`, { active: false })
    assert.equal((await shown()).manager_id, manager_id)
    await call(owner, 'DELETE', `/v1/users/${manager_id}`)
    assert.equal((await shown()).manager_id, undefined)
    assert.equal((await patch({ manager_id: boss.user_id })).status, 200)
  })

  test('may be managed by those whom they manage', async () => {
    await patch({ manager_id: boss.user_id })
    assert.equal((await patch({ manager_id: ada.user_id }, boss)).status, 200)
  })
})

test('the facts of a deleted user go, with what was said before', async () => {
  const user = { ...ada, user_id: await newUser() }
  await patch({ department: 'Finance', title: 'Controller', manager_id: boss.user_id }, user)
  await patch({ title: 'Lead' }, user)
  const kept = () => house.asSuperuser('select from user_fact_version where user_id = $1', [user.user_id])
  assert.equal((await kept()).length, 7)
  assert.equal((await call(owner, 'DELETE', `/v1/users/${user.user_id}`)).status, 204)
  const [row] = await house.asSuperuser(
    'select department, title, manager_id, facts_set_by from tenant_user where id = $1',
    [user.user_id],
  )
  assert.deepEqual(row, { department: null, title: null, manager_id: null, facts_set_by: null })
  assert.equal((await kept()).length, 0)
})

test('the database refuses what the API refuses', async () => {
  const set = (column: string, value: unknown) =>
    house.asSuperuser(`update tenant_user set ${column} = $2 where id = $1`, [ada.user_id, value])
  for (const text of ['', 'x'.repeat(201), 'a\nb', 'a\u2028b', 'a\u202eb', 'a\u200bb', 'a\u0085b'])
    for (const column of ['department', 'title'])
      await assert.rejects(set(column, text), new RegExp(`tenant_user_${column}_ck`))
  await assert.rejects(set('manager_id', ada.user_id), /tenant_user_manager_id_ck/)
  const other = await house.tenant('another')
  await assert.rejects(set('manager_id', other.owner.user_id), /tenant_user_manager_id_fk/)
})

test('of a change, only facts that differ are read', () => {
  const user = { id: 'u', department: 'A', title: null, manager_id: 'm' }
  const rows: [object, object][] = [
    [{}, {}],
    [{ department: 'A', title: null, manager_id: 'm' }, {}],
    [{ department: 'A', manager_id: 'M' }, {}],
    [
      { department: 'B', title: 'T', manager_id: null },
      { department: 'B', title: 'T', manager_id: null },
    ],
    [{ department: null }, { department: null }],
  ]
  for (const [change, read] of rows) assert.deepEqual(readFactChange(user, change), read, JSON.stringify(change))
})

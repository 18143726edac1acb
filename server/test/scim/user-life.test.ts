import assert from 'node:assert/strict'
import { before, suite, test } from 'node:test'
import { newId } from '../../src/kernel/id.ts'
import { enterpriseSchema, userSchema } from '../../src/scim/attribute.ts'
import { openScimStage, type ScimReply } from '../support/scim-stage.ts'

const { house, acme, directory } = await openScimStage()
const { call } = directory

const eventsOf = async (id: string) =>
  (await house.asSuperuser<{ type: string }>('select type from event where subject_id = $1 order by seq', [id])).map(
    ({ type }) => type,
  )
const record = async (id: string) => {
  const { owner, tenant_id } = acme
  return house.call({ method: 'GET', url: `/v1/users/${id}`, api_key: owner.api_key, tenant_id })
}

/** What this service knows of a person. */
const rowOf = async (id: string) => {
  const fields = 'email, name, first_name, display_name, department, title, manager_id, active, is_owner'
  const [row] = await house.asSuperuser(`select ${fields} from tenant_user where id = $1`, [id])
  return row ?? {}
}

suite('the life of a user of a directory', () => {
  let id: string
  let made: ScimReply
  const sent = {
    schemas: [userSchema, enterpriseSchema],
    userName: 'Ada@Example.com',
    externalId: 'X-Ada',
    name: { givenName: 'Ada', familyName: 'Lovelace' },
    displayName: 'Ada L.',
    emails: [{ value: 'Ada@Example.com', type: 'work', primary: true }],
    active: true,
    [enterpriseSchema]: { department: 'Ops' },
  }

  before(async () => {
    made = await call('POST', '/Users', { ...sent, password: 'hunter2', roles: [{ value: 'admin' }] })
    id = String(made.body.id)
  })

  test('begins with an answer that shows all that is kept', () => {
    const { meta, ...rest } = made.body as { meta: Record<string, string> }
    assert.equal(made.status, 201)
    assert.deepEqual(rest, { ...sent, id })
    const { created, lastModified, location, ...others } = meta
    assert.deepEqual(others, { resourceType: 'User', version: made.headers.etag })
    assert.match(String(created), /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/)
    assert.equal(created, lastModified)
    assert.ok(location?.endsWith(`/scim/v2/${directory.id}/Users/${id}`), location)
    assert.equal(made.headers.location, location)
    assert.match(String(made.headers.etag), /^W\/"\d+"$/)
    assert.equal(made.headers['content-type'], 'application/scim+json; charset=utf-8')
    assert.equal(made.headers['cache-control'], 'no-store')
  })

  test('makes a record with the role `user`, which nobody owns, and no more', async () => {
    assert.deepEqual(await rowOf(id), {
      ...{ email: 'Ada@Example.com', name: 'Ada L.', first_name: 'Ada', display_name: 'Ada L.', department: 'Ops' },
      ...{ title: null, manager_id: null, active: true, is_owner: false },
    })
    assert.deepEqual((await record(id)).body.roles, ['user'])
    assert.deepEqual(await house.asSuperuser('select from user_password where user_id = $1', [id]), [])
  })

  test('is read as it was answered, alone and in a list', async () => {
    assert.deepEqual((await call('GET', `/Users/${id}`)).body, made.body)
    const { body } = await call('GET', '/Users?filter=externalId%20eq%20%22X-Ada%22')
    assert.deepEqual(body.Resources, [made.body])
  })

  test('goes on with a replacement, which forgets what it leaves out but not that they are active', async () => {
    const { department: _, ...extension } = { ...sent[enterpriseSchema], costCenter: '7' }
    const { active: __, displayName: ___, ...left } = sent
    const put = await call('PUT', `/Users/${id}`, { ...left, id, title: 'Countess', [enterpriseSchema]: extension })
    assert.equal(put.status, 200, put.text)
    const { meta, ...rest } = put.body as { meta: Record<string, string> }
    assert.deepEqual(rest, { ...left, id, title: 'Countess', active: true, [enterpriseSchema]: { costCenter: '7' } })
    assert.ok(String(meta.lastModified) >= String(meta.created))
    assert.notEqual(put.headers.etag, made.headers.etag)
    const { name, display_name, department, title } = await rowOf(id)
    assert.deepEqual([name, display_name, department, title], ['Ada Lovelace', null, null, 'Countess'])
  })

  test('is the same after a call that changes nothing, and has no event of it', async () => {
    const read = await call('GET', `/Users/${id}`)
    const events = await eventsOf(id)
    const { meta: _, ...whole } = read.body
    const operations = { Operations: [{ op: 'replace', path: 'title', value: 'Countess' }] }
    for (const reply of [await call('PUT', `/Users/${id}`, whole), await call('PATCH', `/Users/${id}`, operations)]) {
      assert.deepEqual([reply.status, reply.body], [200, read.body])
    }
    assert.deepEqual(await eventsOf(id), events)
  })

  test('is stopped, and active again', async () => {
    const stop = (active: unknown) =>
      call('PATCH', `/Users/${id}`, { Operations: [{ op: 'Replace', path: 'active', value: active }] })
    const stopped = await stop('False')
    assert.deepEqual([stopped.status, stopped.body.active, (await record(id)).body.active], [200, false, false])
    const put = await call('PUT', `/Users/${id}`, { userName: 'ada@example.com' })
    assert.deepEqual([put.status, put.body.active], [200, false], 'a replacement that does not say so starts nobody')
    const back = await stop('True')
    assert.deepEqual([back.status, back.body.active, (await record(id)).body.active], [200, true, true])
    assert.deepEqual(await eventsOf(id), [
      ...['user.created', 'user.updated', 'user.deactivated', 'user.updated', 'user.reactivated'],
    ])
  })

  test('ends with a deletion: nobody is found any more, and the address is free again', async () => {
    const gone = await call('DELETE', `/Users/${id}`)
    assert.deepEqual([gone.status, gone.text], [204, ''])
    const never = await call('GET', `/Users/${newId()}`)
    for (const [method, body] of [
      ['GET', undefined],
      ['PUT', { userName: 'x@example.com' }],
      ['PATCH', { Operations: [{ op: 'replace', path: 'active', value: true }] }],
      ['DELETE', undefined],
    ] as const) {
      const reply = await call(method, `/Users/${id}`, body)
      assert.deepEqual([reply.status, reply.body], [404, never.body], method)
    }
    assert.equal((await call('GET', '/Users')).body.totalResults, 0)
    assert.equal((await record(id)).status, 404)
    assert.deepEqual(await house.asSuperuser('select from directory_value where user_id = $1', [id]), [])
    assert.equal((await eventsOf(id)).at(-1), 'user.deleted')
    const again = await call('POST', '/Users', sent)
    assert.equal(again.status, 201, again.text)
    assert.notEqual(again.body.id, id)
  })
})

suite('a user who is there already', () => {
  before(() => directory.user({ userName: 'ben@example.com', externalId: 'X-Ben' }))

  for (const [what, body] of Object.entries({
    'by the user name, in whatever case': { userName: 'BEN@example.com', emails: [{ value: 'other@example.com' }] },
    'by the external id': { userName: 'other@example.com', externalId: 'X-Ben' },
    'by the address': { userName: 'other', emails: [{ value: 'ben@example.com' }] },
    'by a local user’s address': { userName: 'approver@example.com' },
  })) {
    test(`is refused ${what}`, async () => {
      const reply = await call('POST', '/Users', body)
      assert.deepEqual([reply.status, reply.body.scimType], [409, 'uniqueness'], reply.text)
    })
  }

  test('is not one whose external id differs in case', async () => {
    const reply = await call('POST', '/Users', { userName: 'ben2@example.com', externalId: 'x-ben' })
    assert.equal(reply.status, 201, reply.text)
  })

  test('cannot be made of another by a change', async () => {
    const { id } = await directory.user({ userName: 'cleo@example.com', externalId: 'X-Cleo' })
    for (const value of [
      { userName: 'ben@example.com' },
      { externalId: 'X-Ben' },
      { emails: [{ value: 'ben@example.com' }] },
    ]) {
      const patch = await call('PATCH', `/Users/${id}`, { Operations: [{ op: 'replace', value }] })
      assert.deepEqual([patch.status, patch.body.scimType], [409, 'uniqueness'], patch.text)
    }
    assert.equal((await call('GET', `/Users/${id}`)).body.userName, 'cleo@example.com')
  })

  test('is made once by ten calls at once: one 201, the others 409', async () => {
    const body = { userName: 'dora@example.com', externalId: 'X-Dora' }
    const replies = await Promise.all(Array.from({ length: 10 }, () => call('POST', '/Users', body)))
    assert.deepEqual(replies.map(({ status }) => status).toSorted(), [201, ...Array(9).fill(409)])
    assert.equal((await call('GET', '/Users?filter=userName%20eq%20%22dora@example.com%22')).body.totalResults, 1)
  })
})

test('changes of one user by ten calls at once lose nothing that was answered with 200', async () => {
  const { id } = await directory.user({ userName: 'eva@example.com' })
  const values = Array.from({ length: 10 }, (_, n) => `+1 555 ${n}`)
  const replies = await Promise.all(
    values.map((value) =>
      call('PATCH', `/Users/${id}`, { Operations: [{ op: 'add', path: 'phoneNumbers', value: [{ value }] }] }),
    ),
  )
  const kept = values.filter((_, n) => replies[n]?.status === 200)
  const { phoneNumbers } = (await call('GET', `/Users/${id}`)).body as { phoneNumbers: { value: string }[] }
  assert.deepEqual(phoneNumbers.map(({ value }) => value).toSorted(), kept)
  assert.ok(kept.length > 0)
  assert.ok(
    replies.every(({ status }) => status === 200 || status === 409),
    replies.map(({ status }) => status).join(' '),
  )
  for (const value of kept) {
    const { body } = await call('GET', `/Users?filter=${encodeURIComponent(`phoneNumbers.value eq "${value}"`)}`)
    assert.equal(body.totalResults, 1, value)
  }
})

test('a manager is found by id and by external id, before and after they are there', async () => {
  const managerOf = async (id: string) => (await rowOf(id)).manager_id
  const early = await directory.user({
    userName: 'fay@example.com',
    [enterpriseSchema]: { manager: { value: 'X-Boss' } },
  })
  assert.equal(await managerOf(early.id), null)
  const boss = await directory.user({ userName: 'boss@example.com', externalId: 'X-Boss' })
  assert.equal(await managerOf(early.id), boss.id)
  const late = await directory.user({ userName: 'gus@example.com', [enterpriseSchema]: { manager: boss.id } })
  assert.equal(await managerOf(late.id), boss.id)
  const path = `${enterpriseSchema}:manager`
  const patch = (value: unknown, op = 'Replace') =>
    call('PATCH', `/Users/${late.id}`, { Operations: [{ op, path, value }] })
  for (const [value, is] of [
    ['nobody', null],
    ['X-Boss', boss.id],
    [late.id, null],
    [{ value: boss.id }, boss.id],
    [newId(), null],
  ] as const) {
    assert.equal((await patch(value)).status, 200)
    assert.equal(await managerOf(late.id), is, JSON.stringify(value))
  }
})

import assert from 'node:assert/strict'
import { before, suite, test } from 'node:test'
import { newId } from '../../src/kernel/id.ts'
import { groupSchema } from '../../src/scim/attribute.ts'
import { openScimStage, type ScimReply } from '../support/scim-stage.ts'

const { house, acme, directory } = await openScimStage()
const { call } = directory

const ids: string[] = []
before(async () => {
  for (let n = 0; n < 12; n += 1) ids.push((await directory.user({ userName: `user${n}@example.com` })).id)
})

const named = (...some: (string | undefined)[]) => some.map((value) => ({ value }))
const patch = (id: string, ...Operations: object[]) => call('PATCH', `/Groups/${id}`, { Operations })
const membersOf = async (id: string) => {
  const { members = [] } = (await call('GET', `/Groups/${id}`)).body as { members?: { value: string }[] }
  return members.map(({ value }) => value)
}
const typesOf = async (id: string) =>
  (await house.asSuperuser<{ type: string }>('select type from event where subject_id = $1 order by seq', [id])).map(
    ({ type }) => type,
  )

suite('the life of a group of a directory', () => {
  let id: string
  let made: ScimReply

  before(async () => {
    const body = {
      schemas: [groupSchema],
      displayName: 'Ops',
      externalId: 'G1',
      members: named(ids[0], ids[0], ids[1]),
    }
    made = await call('POST', '/Groups', { ...body, roles: ['admin'], scopes: ['roles:write'], source: 'local' })
    id = String(made.body.id)
  })

  test('begins with an answer that shows its members', () => {
    assert.equal(made.status, 201, made.text)
    const { meta, members, ...rest } = made.body as { meta: Record<string, string>; members: Record<string, string>[] }
    assert.deepEqual(rest, { schemas: [groupSchema], id, externalId: 'G1', displayName: 'Ops' })
    assert.deepEqual(
      [meta.resourceType, meta.version, meta.location],
      ['Group', made.headers.etag, made.headers.location],
    )
    assert.deepEqual(
      members.map(({ value }) => value),
      ids.slice(0, 2).toSorted(),
    )
    assert.ok(members.every(({ value, type, $ref }) => type === 'User' && $ref?.endsWith(`/Users/${value}`)))
  })

  test('gives no rights by itself', async () => {
    const { owner, tenant_id } = acme
    const { body } = await house.call({ method: 'GET', url: `/v1/groups/${id}`, api_key: owner.api_key, tenant_id })
    assert.deepEqual([body.name, body.source], ['Ops', 'scim'])
    assert.deepEqual(await house.asSuperuser('select from group_role where group_id = $1', [id]), [])
  })

  test('is read as it was answered, alone and in a list', async () => {
    assert.deepEqual((await call('GET', `/Groups/${id}`)).body, made.body)
    assert.deepEqual((await call('GET', '/Groups')).body.Resources, [made.body])
    const { members: _, ...without } = made.body
    assert.deepEqual((await call('GET', `/Groups/${id}?excludedAttributes=members`)).body, without)
    assert.deepEqual((await call('GET', '/Groups?excludedAttributes=members')).body.Resources, [without])
  })

  test('goes on with members who come and go, each with an event', async () => {
    const begun = (await typesOf(id)).length
    for (const [operation, members] of [
      [{ op: 'Add', path: 'members', value: named(ids[2], ids[0]) }, ids.slice(0, 3)],
      [{ op: 'remove', path: `members[value eq "${ids[0]}"]` }, ids.slice(1, 3)],
      [{ op: 'Remove', path: 'members', value: named(ids[1]?.toUpperCase()) }, ids.slice(2, 3)],
      [{ op: 'remove', path: `members[value eq "${newId()}"]` }, ids.slice(2, 3)],
      [{ op: 'replace', path: 'members', value: named(ids[2], ids[3]) }, ids.slice(2, 4)],
      [{ op: 'remove', path: 'members' }, []],
      [{ op: 'add', value: { members: named(ids[4]) } }, ids.slice(4, 5)],
    ] as const) {
      const reply = await patch(id, operation)
      assert.deepEqual([reply.status, reply.text], [204, ''], JSON.stringify(operation))
      assert.match(String(reply.headers.etag), /^W\/"\d+"$/)
      assert.deepEqual(await membersOf(id), members.toSorted(), JSON.stringify(operation))
    }
    const { added = [], removed = [] } = Object.groupBy((await typesOf(id)).slice(begun), (type) =>
      type === 'group.member_added' ? 'added' : 'removed',
    )
    assert.deepEqual([added.length, removed.length], [3, 4])
  })

  test('shows the members after a change where the client names attributes', async () => {
    const reply = await call('PATCH', `/Groups/${id}?attributes=members.value`, {
      Operations: [{ op: 'add', path: 'members', value: named(ids[5]) }],
    })
    assert.deepEqual([reply.status, reply.body.members], [200, named(...ids.slice(4, 6).toSorted())])
  })

  test('is replaced: its name, its members, and what is left out', async () => {
    const put = await call('PUT', `/Groups/${id}`, { displayName: 'Operations', members: named(ids[6]) })
    assert.equal(put.status, 200, put.text)
    assert.deepEqual([put.body.displayName, put.body.externalId], ['Operations', undefined])
    assert.deepEqual(await membersOf(id), [ids[6]])
    assert.equal((await call('PUT', `/Groups/${id}`, { displayName: 'Operations' })).status, 200)
    assert.deepEqual(await membersOf(id), [])
  })

  test('ends with a deletion, and its memberships with it', async () => {
    await patch(id, { op: 'add', path: 'members', value: named(ids[7]) })
    const gone = await call('DELETE', `/Groups/${id}`)
    assert.deepEqual([gone.status, gone.text], [204, ''])
    const never = await call('GET', `/Groups/${newId()}`)
    for (const [method, body] of [
      ['GET', undefined],
      ['PUT', { displayName: 'x' }],
      ['PATCH', { Operations: [{ op: 'add', path: 'members', value: named(ids[7]) }] }],
      ['DELETE', undefined],
    ] as const) {
      const reply = await call(method, `/Groups/${id}`, body)
      assert.deepEqual([reply.status, reply.body], [404, never.body], method)
    }
    assert.deepEqual(await house.asSuperuser('select from group_member where group_id = $1', [id]), [])
    assert.equal((await typesOf(id)).at(-1), 'group.deleted')
  })
})

suite('a group that is there already', () => {
  test('is refused by its name, without an external id, and by its external id', async () => {
    await directory.group('Sales')
    await call('POST', '/Groups', { displayName: 'Desk', externalId: 'D1' })
    for (const body of [{ displayName: 'SALES' }, { displayName: 'Other', externalId: 'D1' }]) {
      const reply = await call('POST', '/Groups', body)
      assert.deepEqual([reply.status, reply.body.scimType], [409, 'uniqueness'], reply.text)
    }
    // Two groups of one name are told apart by their external ids.
    assert.equal((await call('POST', '/Groups', { displayName: 'Desk', externalId: 'D2' })).status, 201)
  })

  test('cannot be made of another by a change', async () => {
    const { id } = await directory.group('Support')
    for (const [method, body] of [
      ['PATCH', { Operations: [{ op: 'replace', path: 'externalId', value: 'D1' }] }],
      ['PATCH', { Operations: [{ op: 'replace', path: 'displayName', value: 'sales' }] }],
      ['PUT', { displayName: 'Support', externalId: 'D1' }],
    ] as const) {
      const reply = await call(method, `/Groups/${id}`, body)
      assert.deepEqual([reply.status, reply.body.scimType], [409, 'uniqueness'], reply.text)
    }
    assert.equal((await call('GET', `/Groups/${id}`)).body.displayName, 'Support')
  })

  test('is made once by ten calls at once', async () => {
    const replies = await Promise.all(
      Array.from({ length: 10 }, () => call('POST', '/Groups', { displayName: 'Once' })),
    )
    assert.deepEqual(replies.map(({ status }) => status).toSorted(), [201, ...Array(9).fill(409)])
  })
})

suite('members by several calls at once', () => {
  test('that add one each, add up', async () => {
    const { id } = await directory.group('Ten')
    const some = ids.slice(0, 10)
    const replies = await Promise.all(some.map((one) => patch(id, { op: 'add', path: 'members', value: named(one) })))
    assert.deepEqual(
      replies.map(({ status }) => status),
      Array(10).fill(204),
    )
    assert.deepEqual(await membersOf(id), some.toSorted())
    const added = (await typesOf(id)).filter((type) => type === 'group.member_added')
    assert.equal(added.length, 10, 'one event for each')
  })

  test('that add and remove the same one, leave what the last one said, with events in turn', async () => {
    const { id } = await directory.group('Turns')
    const add = { op: 'add', path: 'members', value: named(ids[0]) }
    const remove = { op: 'remove', path: 'members', value: named(ids[0]) }
    await Promise.all(Array.from({ length: 10 }, (_, n) => patch(id, n % 2 === 0 ? add : remove)))
    const types = (await typesOf(id)).slice(1)
    for (const [n, type] of types.entries()) {
      assert.equal(type, n % 2 === 0 ? 'group.member_added' : 'group.member_removed')
    }
    assert.deepEqual(await membersOf(id), types.length % 2 === 0 ? [] : [ids[0]])
  })

  test('that replace all by one, leave one', async () => {
    const { id } = await directory.group('One')
    const some = ids.slice(0, 10)
    for (let round = 0; round < 3; round += 1) {
      const replies = await Promise.all(
        some.map((one) => call('PUT', `/Groups/${id}`, { displayName: 'One', members: named(one) })),
      )
      assert.deepEqual(
        replies.map(({ status }) => status),
        Array(10).fill(200),
      )
      assert.equal((await membersOf(id)).length, 1)
    }
  })

  test('who are deleted meanwhile, become none', async () => {
    const { id } = await directory.group('Leaving')
    const leaving = await directory.user({ userName: 'leaving@example.com' })
    const replies = await Promise.all([
      call('DELETE', `/Users/${leaving.id}`),
      ...ids.slice(0, 4).map((one) => patch(id, { op: 'add', path: 'members', value: named(one, leaving.id) })),
    ])
    assert.equal(replies[0]?.status, 204)
    assert.ok(
      replies.every(({ status }) => [204, 400].includes(status)),
      replies.map(({ text }) => text).join(),
    )
    assert.ok(!(await membersOf(id)).includes(leaving.id))
  })
})

test('members who are nobody are refused by name, and nothing changes', async () => {
  const { id } = await directory.group('Strict', ids.slice(0, 1))
  const nobody = newId()
  for (const value of [nobody, 'X-1', 'me', `${ids[1]} `, '00000000-0000-0000-0000-000000000000']) {
    for (const [method, body] of [
      ['PATCH', { Operations: [{ op: 'add', path: 'members', value: named(ids[2], value) }] }],
      ['PUT', { displayName: 'Strict', members: named(ids[2], value) }],
      ['POST', { displayName: 'New', members: named(ids[2], value) }],
    ] as const) {
      const reply = await call(method, method === 'POST' ? '/Groups' : `/Groups/${id}`, body)
      assert.deepEqual([reply.status, reply.body.scimType], [400, 'invalidValue'], reply.text)
      assert.ok(String(reply.body.detail).includes(value))
    }
  }
  assert.deepEqual(await membersOf(id), ids.slice(0, 1))
})

import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { openScimStage } from '../support/scim-stage.ts'

/** Whom a directory has stopped, and whose address it gives to somebody again: the same person, or another one. */
const { house, acme, makeDirectory } = await openScimStage()
const { tenant_id, owner, people } = acme

const call = (method: string, url: string, body?: unknown) =>
  house.call({ method, url, api_key: owner.api_key, tenant_id, ...(body !== undefined && { body }) })

type Directory = Awaited<ReturnType<typeof makeDirectory>>
const conflictsOf = async ({ id }: Directory) =>
  (await call('GET', `/v1/identity-providers/${id}/conflicts`)).body.data as Record<string, unknown>[]
const settle = async (directory: Directory, user_id: string | null, { token } = owner) => {
  const [conflict] = await conflictsOf(directory)
  const url = `/v1/identity-providers/${directory.id}/conflicts/${conflict?.id}/settle`
  return house.call({ method: 'POST', url, tenant_id, token, body: { user_id } })
}
const stop = async (directory: Directory, id: string) => {
  const operations = [{ op: 'replace', path: 'active', value: false }]
  assert.equal((await directory.call('PATCH', `/Users/${id}`, { Operations: operations })).status, 200)
}

suite('a person who comes back under another id', async () => {
  const directory = await makeDirectory()
  const { id } = await directory.user({ userName: 'ada@example.com', externalId: 'ada-1', title: 'Analyst' })
  const back = { userName: 'ada@example.com', externalId: 'ada-2', title: 'Engineer' }

  test('is not made while the directory has the user of the address', async () => {
    const reply = await directory.call('POST', '/Users', {
      ...back,
      userName: 'ada',
      emails: [{ value: back.userName }],
    })
    assert.deepEqual([reply.status, reply.body.detail], [409, 'another user has the e-mail address, or one like it'])
  })

  test('is not made, and waits for a person to say who they are', async () => {
    await stop(directory, id)
    const same = await directory.call('POST', '/Users', { ...back, externalId: 'ada-1' })
    assert.deepEqual([same.status, await conflictsOf(directory)], [409, []], 'the same id is the same person')
    const reply = await directory.call('POST', '/Users', back)
    assert.deepEqual([reply.status, reply.body.scimType], [409, 'uniqueness'], reply.text)
    assert.match(
      String(reply.body.detail),
      /whom this directory has stopped has the e-mail address or the `userName`: an administrator/,
    )
    const [conflict, ...others] = await conflictsOf(directory)
    assert.deepEqual(
      [conflict?.user_id, conflict?.of_directory, conflict?.holder_name, conflict?.external_id, others],
      [id, true, 'ada@example.com', 'ada-2', []],
    )
  })

  test('needs a caller with every scope that the user would have again', async () => {
    assert.equal((await call('PUT', `/v1/users/${id}/roles`, { roles: ['user', 'approver'] })).status, 200)
    const role = await call('POST', '/v1/roles', { name: 'desk', scopes: ['users:write', 'users:read'] })
    await call('PUT', `/v1/users/${people.auditor.user_id}/roles`, { roles: [role.body.id] })
    const desk = await house.person(tenant_id, people.auditor.user_id)
    const reply = await settle(directory, id, desk)
    assert.equal(reply.status, 403, reply.text)
    assert.ok((reply.body.details as { scopes: string[] }).scopes.includes('requests:approve'))
  })

  test('is that user again from the settlement on, with the roles of before', async () => {
    const reply = await settle(directory, id)
    assert.deepEqual([reply.status, reply.body], [200, { user_id: id }], reply.text)
    const { active, title, roles, identity_provider_id } = (await call('GET', `/v1/users/${id}`)).body
    assert.deepEqual(
      { active, title, roles: (roles as string[]).toSorted(), identity_provider_id },
      { active: true, title: 'Engineer', roles: ['approver', 'user'], identity_provider_id: directory.id },
    )
    const found = await directory.call('GET', '/Users?filter=externalId%20eq%20%22ada-2%22')
    assert.deepEqual(
      (found.body.Resources as { id: string }[]).map((user) => user.id),
      [id],
    )
    assert.deepEqual(await conflictsOf(directory), [])
    const types = await house.asSuperuser<{ type: string }>(
      `select type from event where tenant_id = $1 and subject_id = $2 and type like 'user.%activated' order by seq`,
      [tenant_id, id],
    )
    assert.deepEqual(
      types.map(({ type }) => type),
      ['user.deactivated', 'user.reactivated'],
    )
  })
})

suite('a successor who gets the name and the address of one who left', async () => {
  const directory = await makeDirectory()
  const { id } = await directory.user({ userName: 'desk@example.com', externalId: 'first' })
  const successor = { userName: 'desk@example.com', externalId: 'second', displayName: 'The second' }

  test('is made once the user who left is deleted here, which nobody may while the directory has them', async () => {
    assert.equal((await call('DELETE', `/v1/users/${id}`)).status, 403)
    await stop(directory, id)
    assert.equal((await directory.call('POST', '/Users', successor)).status, 409)
    assert.equal((await settle(directory, null)).status, 200)
    assert.equal(
      (await directory.call('POST', '/Users', successor)).status,
      409,
      'kept apart, and the address is taken',
    )
    assert.equal((await call('DELETE', `/v1/users/${id}`)).status, 204)
    assert.deepEqual(await conflictsOf(directory), [])
    const made = await directory.call('POST', '/Users', successor)
    assert.deepEqual([made.status, made.body.id === id], [201, false], made.text)
    assert.equal((await directory.call('GET', `/Users/${id}`)).status, 404)
  })
})

suite('a conflict with a user whom a directory has stopped', async () => {
  const directory = await makeDirectory()
  const { id } = await directory.user({ userName: 'eve@example.com', externalId: 'eve-1' })
  const other = { userName: 'eve@example.com', externalId: 'eve-2', displayName: 'Eve' }
  const urlOf = (conflict: Record<string, unknown> | undefined) =>
    `/v1/identity-providers/${directory.id}/conflicts/${conflict?.id}/settle`
  const push = async (resource: object) => {
    assert.equal((await directory.call('POST', '/Users', resource)).status, 409)
    const [conflict] = await conflictsOf(directory)
    return conflict
  }
  const rows = () => house.asSuperuser('select id from directory_conflict where user_id = $1', [id])
  await stop(directory, id)

  test('ends where the directory lets them come back under the id of before, and does not begin again', async () => {
    const url = urlOf(await push(other))
    const operations = [{ op: 'replace', path: 'active', value: true }]
    assert.equal((await directory.call('PATCH', `/Users/${id}`, { Operations: operations })).status, 200)
    assert.equal((await call('POST', url, { user_id: id })).status, 404)
    await stop(directory, id)
    assert.deepEqual(await conflictsOf(directory), [])
  })

  test('is about one person: another with the address is another conflict', async () => {
    const first = await push(other)
    assert.equal((await push({ ...other, title: 'Engineer' }))?.id, first?.id, 'said again')
    assert.equal((await call('POST', urlOf(first), { user_id: null })).status, 200)
    assert.equal((await push(other))?.kept_apart, true)
    const second = await push({ ...other, externalId: 'eve-3', displayName: 'Mallory' })
    assert.deepEqual([second?.name, second?.kept_apart, second?.id === first?.id], ['Mallory', false, false])
    assert.equal((await call('POST', urlOf(first), { user_id: id })).status, 404, 'nobody gets what nobody saw')
    assert.equal((await call('GET', `/v1/users/${id}`)).body.active, false)
  })

  test('cannot be settled by another user whom a directory has, nor by one of another directory', async () => {
    const url = urlOf(await push(other))
    const { id: active } = await directory.user({ userName: 'active@example.com' })
    assert.equal((await call('POST', url, { user_id: active })).status, 422)
    const elsewhere = await makeDirectory()
    const { id: stranger } = await elsewhere.user({ userName: 'mallory@example.com', externalId: 'm' })
    assert.equal((await call('POST', url, { user_id: stranger })).status, 422)
    await stop(elsewhere, stranger)
    assert.equal((await call('POST', url, { user_id: stranger })).status, 422)
    const reply = await elsewhere.call('POST', '/Users', other)
    assert.deepEqual([reply.status, await conflictsOf(elsewhere)], [409, []], 'of another directory is no conflict')
  })

  test('is not settled while the directory is switched off', async () => {
    const url = urlOf(await push(other))
    const provider = `/v1/identity-providers/${directory.id}`
    assert.equal((await call('PATCH', provider, { enabled: false })).status, 200)
    const reply = await call('POST', url, { user_id: id })
    assert.deepEqual([reply.status, /switched off/.test(String(reply.body.message))], [422, true], reply.text)
    assert.equal((await call('PATCH', provider, { enabled: true })).status, 200)
  })

  test('ends where the person is made under another name and address', async () => {
    const url = urlOf(await push(other))
    await directory.user({ userName: 'eva', externalId: 'eve-2', emails: [{ value: 'eva@example.com' }] })
    assert.equal((await call('POST', url, { user_id: id })).status, 404)
    assert.equal((await call('GET', `/v1/users/${id}`)).body.active, false)
  })

  test('moves with the person to the user who has what they have now', async () => {
    const { id: second } = await directory.user({ userName: 'rhea@example.com', externalId: 'rhea-1' })
    await stop(directory, second)
    const url = urlOf(await push({ ...other, externalId: 'eve-4' }))
    assert.equal((await push({ userName: 'rhea@example.com', externalId: 'eve-4' }))?.user_id, second)
    assert.deepEqual(
      (await conflictsOf(directory)).map(({ user_id }) => user_id),
      [second],
    )
    assert.equal((await call('POST', url, { user_id: id })).status, 404)
  })

  test('goes with the user who is deleted', async () => {
    await push({ ...other, externalId: 'eve-5' })
    assert.equal((await rows()).length, 1)
    assert.equal((await call('DELETE', `/v1/users/${id}`)).status, 204)
    assert.deepEqual(await rows(), [])
  })
})

suite('who left is deleted by the settlement that says so', async () => {
  const directory = await makeDirectory()
  const { id } = await directory.user({ userName: 'ida@example.com', externalId: 'ida-1' })
  await stop(directory, id)
  const successor = { userName: 'ida@example.com', externalId: 'ida-2' }
  assert.equal((await directory.call('POST', '/Users', successor)).status, 409)
  const [conflict] = await conflictsOf(directory)
  const url = `/v1/identity-providers/${directory.id}/conflicts/${conflict?.id}/settle`

  test('which names nobody', async () => {
    assert.equal((await call('POST', url, { user_id: id, delete_user: true })).status, 400)
  })

  test('by a caller with every scope that the user held', async () => {
    assert.equal((await call('PUT', `/v1/users/${id}/roles`, { roles: ['approver'] })).status, 200)
    const role = await call('POST', '/v1/roles', { name: 'desk', scopes: ['users:write', 'users:read'] })
    await call('PUT', `/v1/users/${people.auditor.user_id}/roles`, { roles: [role.body.id] })
    const { token } = await house.person(tenant_id, people.auditor.user_id)
    const body = { user_id: null, delete_user: true }
    assert.equal((await house.call({ method: 'POST', url, tenant_id, token, body })).status, 403)
  })

  test('and the directory’s person is made when it tries again', async () => {
    const reply = await call('POST', url, { user_id: null, delete_user: true })
    assert.deepEqual([reply.status, reply.body], [200, { user_id: null }], reply.text)
    assert.equal((await call('GET', `/v1/users/${id}`)).status, 404)
    assert.equal((await directory.call('POST', '/Users', successor)).status, 201)
  })

  test('not a user whom no directory manages', async () => {
    const email = 'local@example.com'
    await call('POST', '/v1/users', { email, name: 'Here', roles: ['user'], auth_provider: 'oidc' })
    assert.equal((await directory.call('POST', '/Users', { userName: email })).status, 409)
    const [other] = await conflictsOf(directory)
    const at = `/v1/identity-providers/${directory.id}/conflicts/${other?.id}/settle`
    assert.equal((await call('POST', at, { user_id: null, delete_user: true })).status, 422)
  })
})

test('a user of a directory who gets the address of one who left is told what to do', async () => {
  const directory = await makeDirectory()
  const { id: former } = await directory.user({ userName: 'first@example.com' })
  const { id } = await directory.user({ userName: 'second@example.com' })
  await stop(directory, former)
  const operations = [{ op: 'replace', path: 'userName', value: 'first@example.com' }]
  const change = () => directory.call('PATCH', `/Users/${id}`, { Operations: operations })
  const refused = await change()
  assert.deepEqual([refused.status, /an administrator can delete them/.test(String(refused.body.detail))], [409, true])
  assert.equal((await call('DELETE', `/v1/users/${former}`)).status, 204)
  assert.equal((await change()).status, 200)
})

import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { newId } from '../../src/kernel/id.ts'
import { openScimStage } from '../support/scim-stage.ts'

/** Somebody here has the address of a user of the directory. */
const { house, acme, makeDirectory } = await openScimStage()
const { tenant_id, owner, people } = acme

const call = (method: string, url: string, body?: unknown, api_key = owner.api_key) =>
  house.call({ method, url, api_key, tenant_id, ...(body !== undefined && { body }) })
const makeUser = async (more: object) =>
  String((await call('POST', '/v1/users', { name: 'Bob', roles: ['user'], auth_provider: 'oidc', ...more })).body.id)
const events = (type: string, subject_id: string) =>
  house.asSuperuser<{ data: Record<string, unknown> }>(
    'select data from event where tenant_id = $1 and type = $2 and subject_id = $3 order by seq',
    [tenant_id, type, subject_id],
  )

suite('a user of a directory whose address somebody here has', async () => {
  const directory = await makeDirectory()
  const user_id = await makeUser({ email: 'bob@example.com' })
  const sent = { userName: 'bob', externalId: 'b-1', emails: [{ value: 'bob@example.com' }], title: 'Engineer' }
  const conflictsUrl = `/v1/identity-providers/${directory.id}/conflicts`
  const conflicts = async () => (await call('GET', conflictsUrl)).body.data as Record<string, unknown>[]

  test('is not made, is kept once, and nobody here changes (T16)', async () => {
    const before = await call('GET', `/v1/users/${user_id}`)
    for (let times = 0; times < 2; times += 1) {
      const reply = await directory.call('POST', '/Users', sent)
      assert.deepEqual([reply.status, reply.body.scimType], [409, 'uniqueness'], reply.text)
    }
    const [conflict, ...others] = await conflicts()
    const { id, created_at, seen_at, ...rest } = conflict ?? {}
    assert.deepEqual(
      [rest, others],
      [
        {
          user_name: 'bob',
          external_id: 'b-1',
          email: 'bob@example.com',
          name: 'bob',
          user_id,
          holder_name: 'Bob',
          holder_active: true,
          of_directory: false,
          kept_apart: false,
        },
        [],
      ],
    )
    assert.ok(String(seen_at) > String(created_at))
    assert.deepEqual((await events('identity_provider.conflict_found', directory.id)).length, 1)
    assert.equal((await call('GET', `/v1/users/${user_id}`)).text, before.text)
    assert.equal((await directory.call('GET', '/Users')).body.totalResults, 0)
    assert.equal(typeof id, 'string')
  })

  test('needs a caller with every scope that the person holds', async () => {
    const [conflict] = await conflicts()
    const url = `${conflictsUrl}/${conflict?.id}/settle`
    const role = await call('POST', '/v1/roles', { name: 'desk', scopes: ['users:write', 'users:read'] })
    await call('PUT', `/v1/users/${people.auditor.user_id}/roles`, { roles: [role.body.id] })
    await call('PUT', `/v1/users/${user_id}/roles`, { roles: ['approver'] })
    const desk = await house.person(tenant_id, people.auditor.user_id)
    const asDesk = (body: object) => house.call({ method: 'POST', url, token: desk.token, tenant_id, body })
    const reply = await asDesk({ user_id })
    assert.equal(reply.status, 403, reply.text)
    assert.ok((reply.body.details as { scopes: string[] }).scopes.includes('requests:approve'))
    assert.equal((await call('POST', url, { user_id: newId() })).status, 422)
    assert.equal((await call('POST', `${conflictsUrl}/${newId()}/settle`, { user_id })).status, 404)
  })

  test('can be kept apart, and is still not made', async () => {
    const [conflict] = await conflicts()
    const reply = await call('POST', `${conflictsUrl}/${conflict?.id}/settle`, { user_id: null })
    assert.deepEqual([reply.status, reply.body], [200, { user_id: null }], reply.text)
    assert.equal((await directory.call('POST', '/Users', sent)).status, 409)
    assert.equal((await conflicts())[0]?.kept_apart, true)
  })

  test('becomes the user here, whom the directory manages from then on', async () => {
    const [conflict] = await conflicts()
    const reply = await call('POST', `${conflictsUrl}/${conflict?.id}/settle`, { user_id })
    assert.deepEqual([reply.status, reply.body], [200, { user_id }], reply.text)
    assert.deepEqual(await conflicts(), [])
    const user = (await call('GET', `/v1/users/${user_id}`)).body
    const { identity_provider_id, title, roles, email } = user
    assert.deepEqual(
      { identity_provider_id, title, roles, email },
      { identity_provider_id: directory.id, title: 'Engineer', roles: ['approver'], email: 'bob@example.com' },
    )
    const found = await directory.call('GET', '/Users?filter=externalId%20eq%20%22b-1%22')
    const [seen] = found.body.Resources as Record<string, unknown>[]
    assert.deepEqual([seen?.id, seen?.userName, seen?.title], [user_id, 'bob', 'Engineer'])
    const settled = await events('identity_provider.conflict_settled', directory.id)
    assert.deepEqual(
      settled.map(({ data }) => data.user_id),
      [null, user_id],
    )
  })
})

suite('the mail domain of a user is given to the tenant by the operator', async () => {
  const directory = await makeDirectory()
  await house.asSuperuser('insert into tenant_mail_domain (tenant_id, domain) values ($1, $2)', [
    tenant_id,
    'corp.example',
  ])
  const nameDirectory = (id: string | null) =>
    call('PUT', '/v1/settings/sign-in', {
      enabled: false,
      issuer: 'https://id.example.com',
      client_id: 'sallyport',
      redirect_uris: ['https://app.example.com/back'],
      identity_provider_id: id,
    })

  const cases: [string, { auth_provider: string; address: string; names: boolean }, boolean][] = [
    ['becomes theirs', { auth_provider: 'oidc', address: 'meant@corp.example', names: true }, true],
    ['of another domain does not', { auth_provider: 'oidc', address: 'meant@other.example', names: true }, false],
    [
      'of an account with a password does not',
      { auth_provider: 'local', address: 'pw@corp.example', names: true },
      false,
    ],
    [
      'does not while the sign-in names no directory',
      { auth_provider: 'oidc', address: 'un@corp.example', names: false },
      false,
    ],
  ]
  for (const [name, { auth_provider, address, names }, isTheirs] of cases) {
    test(`an account with an address of it ${name}`, async () => {
      assert.equal((await nameDirectory(names ? directory.id : null)).status, 200)
      const password = auth_provider === 'local' ? { password: 'four random words here' } : {}
      const user_id = await makeUser({ email: address, auth_provider, ...password })
      const reply = await directory.call('POST', '/Users', { userName: address })
      assert.deepEqual([reply.status, reply.body.id === user_id], isTheirs ? [201, true] : [409, false], reply.text)
    })
  }

  test('an account that a person kept apart stays apart', async () => {
    assert.equal((await nameDirectory(null)).status, 200)
    const user_id = await makeUser({ email: 'apart@corp.example' })
    const sent = { userName: 'apart@corp.example', externalId: 'apart' }
    assert.equal((await directory.call('POST', '/Users', sent)).status, 409)
    const url = `/v1/identity-providers/${directory.id}/conflicts`
    const conflicts = (await call('GET', url)).body.data as { id: string; user_id: string }[]
    const conflict = conflicts.find((one) => one.user_id === user_id)
    assert.equal((await call('POST', `${url}/${conflict?.id}/settle`, { user_id: null })).status, 200)
    assert.equal((await nameDirectory(directory.id)).status, 200)
    assert.equal((await directory.call('POST', '/Users', sent)).status, 409)
    const others = await directory.call('POST', '/Users', { ...sent, externalId: 'another' })
    assert.deepEqual([others.status, others.body.id], [201, user_id], 'another person was not kept apart')
  })

  test('an account is not stopped by becoming theirs: a person says who it is', async () => {
    const user_id = await makeUser({ email: 'leaver@corp.example' })
    assert.equal(
      (await directory.call('POST', '/Users', { userName: 'leaver@corp.example', active: false })).status,
      409,
    )
    assert.equal((await call('GET', `/v1/users/${user_id}`)).body.active, true)
  })

  test('an account that was deactivated here does not come back by the directory', async () => {
    assert.equal((await nameDirectory(directory.id)).status, 200)
    const user_id = await makeUser({ email: 'stopped@corp.example' })
    assert.equal((await call('PATCH', `/v1/users/${user_id}`, { active: false })).status, 200)
    assert.equal((await directory.call('POST', '/Users', { userName: 'stopped@corp.example' })).status, 409)
    assert.equal((await call('GET', `/v1/users/${user_id}`)).body.active, false)
  })
})

suite('a person whom a directory got by a settlement', async () => {
  const directory = await makeDirectory()
  const conflictsUrl = `/v1/identity-providers/${directory.id}/conflicts`
  const settle = async (address: string, user_id: string) => {
    assert.equal((await directory.call('POST', '/Users', { userName: address })).status, 409)
    const [conflict] = (await call('GET', conflictsUrl)).body.data as { id: string }[]
    assert.equal((await call('POST', `${conflictsUrl}/${conflict?.id}/settle`, { user_id })).status, 200)
  }

  test('keeps no proof of an address that is only like theirs (O20)', async () => {
    const user_id = await makeUser({ email: 'strasse@example.com' })
    await house.asSuperuser('update tenant_user set email_verified = true where tenant_id = $1 and id = $2', [
      tenant_id,
      user_id,
    ])
    await settle('strasse@example.com', user_id)
    const verified = async (value: string) => {
      const operations = [{ op: 'replace', path: 'userName', value }]
      assert.equal((await directory.call('PATCH', `/Users/${user_id}`, { Operations: operations })).status, 200)
      return (await call('GET', `/v1/users/${user_id}`)).body.email_verified
    }
    assert.equal(await verified('Strasse@example.com'), true)
    assert.equal(await verified('straße@example.com'), false)
  })

  test('joins by no invitation any more, which proved another address', async () => {
    const invited = await call('POST', '/v1/invitations', { email: 'ivy@example.com', name: 'Ivy', roles: ['user'] })
    assert.equal(invited.status, 201, invited.text)
    const user_id = String(invited.body.user_id)
    await settle('ivy@example.com', user_id)
    assert.equal((await call('POST', `/v1/users/${user_id}/invitations`)).status, 422)
  })
})

test('an identity provider that does not exist has no conflicts: 404', async () => {
  assert.equal((await call('GET', `/v1/identity-providers/${newId()}/conflicts`)).status, 404)
})

test('a conflict ends once the directory’s user is made, and is not listed once the account here is deleted', async () => {
  const directory = await makeDirectory()
  const url = `/v1/identity-providers/${directory.id}/conflicts`
  const count = async () => ((await call('GET', url)).body.data as unknown[]).length
  const user_id = await makeUser({ email: 'kim@example.com' })
  assert.equal((await directory.call('POST', '/Users', { userName: 'kim@example.com' })).status, 409)
  const other = await makeUser({ email: 'lee@example.com' })
  assert.equal((await directory.call('POST', '/Users', { userName: 'lee@example.com' })).status, 409)
  assert.equal(await count(), 2)
  assert.equal((await call('DELETE', `/v1/users/${other}`)).status, 204)
  assert.equal(await count(), 1)
  const elsewhere = { userName: 'Kim@example.com', emails: [{ value: 'kim@other.example' }] }
  assert.equal((await directory.call('POST', '/Users', elsewhere)).status, 201)
  assert.equal(await count(), 0)
  assert.equal((await call('GET', `/v1/users/${user_id}`)).body.email, 'kim@example.com')
})

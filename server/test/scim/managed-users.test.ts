import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { sql } from '../../src/db/sql.ts'
import { openDatabase } from '../../src/db/transaction.ts'
import type { Reply } from '../support/house.ts'
import { aLockIsWaitedFor } from '../support/lock.ts'
import { openScimStage } from '../support/scim-stage.ts'
import { until } from '../support/wait.ts'

/** What a directory manages changes there alone, until its identity provider is deleted. */
const { house, acme, makeDirectory } = await openScimStage()
const { tenant_id, owner } = acme

const asOwner = (method: string, url: string, body?: unknown) =>
  house.call({ method, url, api_key: owner.api_key, tenant_id, ...(body !== undefined && { body }) })
const refused = ({ status, body, text }: Reply, identity_provider_id: string) =>
  assert.deepEqual([status, body.code, body.details], [403, 'forbidden', { identity_provider_id }], text)

suite('a user whom a directory manages', async () => {
  const directory = await makeDirectory()
  const { id } = await directory.user({
    userName: 'ada@example.com',
    displayName: 'Ada Lovelace',
    name: { givenName: 'Ada', familyName: 'Lovelace' },
    title: 'Analyst',
  })
  const url = `/v1/users/${id}`
  const person = await house.person(tenant_id, id)
  const profile = (body: object) =>
    house.call({ method: 'PUT', url: '/v1/users/me/profile', token: person.token, tenant_id, body })

  test('is shown with the directory, and has the role of a user', async () => {
    const { body } = await asOwner('GET', url)
    const { identity_provider_id, roles, auth_provider, title, email_verified } = body
    assert.deepEqual(
      { identity_provider_id, roles, auth_provider, title, email_verified },
      {
        identity_provider_id: directory.id,
        roles: ['user'],
        auth_provider: 'oidc',
        title: 'Analyst',
        email_verified: false,
      },
    )
  })

  test('refuses changes of name, facts and state here, and a deletion', async () => {
    for (const change of [{ name: 'Eve' }, { active: false }, { department: 'Finance' }, { title: null }]) {
      refused(await asOwner('PATCH', url, change), directory.id)
    }
    refused(await asOwner('DELETE', url), directory.id)
    assert.equal((await asOwner('PATCH', url, { name: 'Ada Lovelace', active: true })).status, 200, 'nothing to change')
  })

  test('refuses their own changes of what the directory says of their names, and takes a picture (endpoint 19)', async () => {
    for (const field of ['first_name', 'last_name', 'display_name']) {
      const reply = await profile({ [field]: 'Eve' })
      const { fields } = reply.body.details as { fields: { pointer: string }[] }
      assert.deepEqual([reply.status, fields.map(({ pointer }) => pointer)], [400, [`/${field}`]], reply.text)
    }
    const picture = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=='
    assert.equal((await profile({ first_name: 'Ada', avatar_base64: `data:image/png;base64,${picture}` })).status, 200)
  })

  test('can be suspended here, and given roles', async () => {
    assert.equal((await asOwner('POST', `${url}/suspend`)).status, 200)
    assert.equal((await asOwner('POST', `${url}/unsuspend`)).status, 200)
    assert.equal((await asOwner('PUT', `${url}/roles`, { roles: ['user', 'approver'] })).status, 200)
  })
})

suite('a group that a directory manages', async () => {
  const directory = await makeDirectory()
  const { id: member } = await directory.user({ userName: 'grace@example.com' })
  const { id } = await directory.group('Engineers', [member])
  const url = `/v1/groups/${id}`

  test('refuses members, a name and a deletion here (endpoint 13)', async () => {
    for (const [method, path, body] of [
      ['POST', '/members', { user_id: owner.user_id }],
      ['DELETE', `/members/${member}`, undefined],
      ['PATCH', '', { name: 'Others' }],
      ['DELETE', '', undefined],
    ] as const) {
      const reply = await asOwner(method, `${url}${path}`, body)
      assert.deepEqual([reply.status, reply.body.details], [403, { source: 'scim' }], reply.text)
    }
  })

  test('gives roles at once where they are mapped to it', async () => {
    const { token } = await house.person(tenant_id, member)
    const scopes = async () =>
      (await house.call({ method: 'GET', url: '/v1/users/me', token, tenant_id })).body.scopes as string[]
    assert.equal((await scopes()).includes('requests:approve'), false)
    assert.equal((await asOwner('PUT', `${url}/role-mappings`, { role_ids: ['approver'] })).status, 200)
    assert.equal((await scopes()).includes('requests:approve'), true)
    await directory.call('PATCH', `/Groups/${id}`, { Operations: [{ op: 'remove', path: 'members' }] })
    assert.equal((await scopes()).includes('requests:approve'), false)
    await directory.call('PATCH', `/Groups/${id}`, {
      Operations: [{ op: 'add', path: 'members', value: [{ value: member }] }],
    })
    assert.equal((await scopes()).includes('requests:approve'), true)
  })
})

test('users and groups of a deleted provider are managed here, with what they have', async () => {
  const directory = await makeDirectory()
  const { id: member } = await directory.user({ userName: 'linus@example.com' })
  const { id: group } = await directory.group('Kernel', [member])
  assert.equal((await asOwner('PUT', `/v1/groups/${group}/role-mappings`, { role_ids: ['auditor'] })).status, 200)
  assert.equal((await asOwner('DELETE', `/v1/identity-providers/${directory.id}`)).status, 204)
  const { source, member_count, role_mappings } = (await asOwner('GET', `/v1/groups/${group}`)).body
  assert.deepEqual([source, member_count, role_mappings], ['local', 1, ['auditor']])
  const members = (await asOwner('GET', `/v1/groups/${group}/members`)).body.data as { membership_source: string }[]
  assert.deepEqual(
    members.map(({ membership_source }) => membership_source),
    ['local'],
  )
  assert.equal('identity_provider_id' in (await asOwner('GET', `/v1/users/${member}`)).body, false)
  assert.equal((await asOwner('PATCH', `/v1/users/${member}`, { name: 'Linus' })).status, 200)
  assert.equal((await asOwner('DELETE', `/v1/groups/${group}/members/${member}`)).status, 204)
  assert.equal((await directory.call('GET', '/Users')).status, 401)
})

test('an identity provider says when its directory last called, which is no part of its version', async () => {
  const directory = await makeDirectory()
  const read = () => asOwner('GET', `/v1/identity-providers/${directory.id}`)
  const before = await read()
  assert.deepEqual([before.body.sync_status, before.body.last_synced_at], ['pending', null])
  await directory.call('GET', '/Users')
  await until('the call is recorded', async () => (await read()).body.sync_status === 'synced')
  const after = await read()
  assert.notEqual(after.body.last_synced_at, null)
  assert.equal(after.headers.etag, before.headers.etag)
})

test('a member whom a call under way adds is managed here too, once the provider is deleted', async () => {
  const directory = await makeDirectory()
  const { id: member } = await directory.user({ userName: 'late@example.com' })
  const { id: group } = await directory.group('Late')
  const beside = openDatabase(house.service, { writes: 1, long: 1 })
  let deletion: Promise<Reply> | undefined
  await beside.tenant(tenant_id).interactive(async (inside) => {
    await inside.write([
      sql`select from tenant_group where tenant_id = ${tenant_id} and id = ${group} for no key update`,
      sql`insert into group_member (tenant_id, group_id, user_id, membership_source)
        values (${tenant_id}, ${group}, ${member}, 'scim')`,
    ])
    deletion = asOwner('DELETE', `/v1/identity-providers/${directory.id}`)
    await aLockIsWaitedFor(house, inside)
  })
  await beside.close()
  assert.equal((await deletion)?.status, 204)
  const [{ membership_source } = {}] = (await asOwner('GET', `/v1/groups/${group}/members`)).body.data as Record<
    string,
    unknown
  >[]
  assert.equal(membership_source, 'local')
})

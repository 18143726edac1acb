import assert from 'node:assert/strict'
import { before, suite, test } from 'node:test'
import { newId } from '../../src/kernel/id.ts'
import { resumeTenant, suspendTenant } from '../../src/tenants/suspend-tenant.flow.ts'
import type { TestTenant } from '../support/house.ts'
import { browserOf } from '../support/presented.ts'
import { callScim, type Directory, openScimStage } from '../support/scim-stage.ts'
import { until } from '../support/wait.ts'

/** Who may call below `/scim/v2/{id}`: the key of that directory, alone, and only while everything about it is in order. */
const stage = await openScimStage({ follows: true })
const { house, acme, directory, makeDirectory } = stage
const other = await house.tenant('Other')
const second = await makeDirectory()
const theirs = await makeDirectory(other)

const paths: readonly (readonly [string, string])[] = [
  ...([
    ['GET', '/ServiceProviderConfig'],
    ['GET', '/Schemas'],
    ['GET', '/Users'],
    ['POST', '/Users'],
  ] as const),
  ...([
    ['GET', `/Users/${newId()}`],
    ['PATCH', `/Groups/${newId()}`],
    ['DELETE', `/Users/${newId()}`],
  ] as const),
  ...([['POST', '/.search']] as const),
]
const tryAll = (to: Pick<Directory, 'id' | 'key'>, headers: Record<string, string> = {}) =>
  Promise.all(paths.map(([method, path]) => callScim(house, to, { method, path, headers })))
const statuses = async (to: Pick<Directory, 'id' | 'key'>, headers?: Record<string, string>) => [
  ...new Set((await tryAll(to, headers)).map(({ status }) => status)),
]
const works = async (to: Directory, headers?: Record<string, string>) =>
  (await callScim(house, to, { method: 'GET', path: '/Users', headers })).status

const as = ({ tenant_id, owner }: TestTenant, method: string, url: string, body?: unknown) =>
  house.call({ method, url, api_key: owner.api_key, tenant_id, ...(body !== undefined && { body }) })

suite('the address of a directory is open to its own key only (T16)', () => {
  test('for its key it is open', async () =>
    assert.deepEqual([await works(directory), await works(second), await works(theirs)], [200, 200, 200]))

  test('a key at another address learns nothing of whether it exists', async () => {
    const places = { another: second.id, foreign: theirs.id, none: newId(), tenant: acme.tenant_id }
    for (const [n, [method, path]] of paths.entries()) {
      const replies = await Promise.all(
        Object.values(places).map((id) => callScim(house, { ...directory, id }, { method, path })),
      )
      assert.deepEqual(
        replies.map(({ status, text }) => [status, text]),
        Array(4).fill([403, replies[0]?.text]),
        paths[n]?.join(' '),
      )
    }
    assert.deepEqual(await statuses({ ...theirs, id: directory.id }), [403])
  })

  test('an id in capitals is the same', async () => {
    assert.equal(
      (await callScim(house, { ...directory, id: directory.id.toUpperCase() }, { method: 'GET', path: '/Users' }))
        .status,
      200,
    )
  })
})

suite('the tenant that a call names', () => {
  for (const [what, header, status] of [
    ['its own', acme.tenant_id, 200],
    ['its own, in capitals', acme.tenant_id.toUpperCase(), 200],
    ['another', other.tenant_id, 403],
    ['none that exists', newId(), 403],
    ['no id', 'x', 400],
    ['an id in braces', `{${acme.tenant_id}}`, 400],
    ['two ids', `${acme.tenant_id}, ${acme.tenant_id}`, 400],
  ] as const) {
    test(`is ${what}: ${status}`, async () => assert.equal(await works(directory, { 'x-tenant-id': header }), status))
  }
})

suite('no other credential opens it (A11, A12)', () => {
  const bearer = (text: string) => ({ authorization: `Bearer ${text}` })

  test('not a token, an API key or a session', async () => {
    const { token, api_key, user_id } = acme.owner
    const { cookie = '' } = await browserOf(house, acme.tenant_id, user_id)
    for (const [what, headers] of Object.entries<Record<string, string>>({
      nothing: { authorization: '' },
      token: bearer(token),
      'API key as a bearer': bearer(api_key),
      'API key': { authorization: '', 'x-api-key': api_key },
      session: { authorization: '', cookie, 'sec-fetch-site': 'same-origin', host: '127.0.0.1:8080' },
    })) {
      assert.deepEqual(await statuses(directory, headers), [401], what)
    }
  })

  test('not the key in another place or spelling', async () => {
    const { key } = directory
    const swapped = key.replace(/.$/, (last) => (last === '0' ? '1' : '0'))
    for (const [what, headers] of Object.entries<Record<string, string>>({
      'another scheme': { authorization: `Basic ${btoa(`scim:${key}`)}` },
      'no scheme': { authorization: key },
      'a cookie': { authorization: '', cookie: `key=${key}` },
      'another checksum': bearer(swapped),
      less: bearer(key.slice(0, -1)),
      more: bearer(`${key}x`),
      capitals: bearer(key.toUpperCase()),
      'the prefix of an API key': bearer(key.replace('spscim_', 'sp_')),
      two: bearer(`${key}, ${key}`),
      'an empty one': bearer(''),
    })) {
      assert.deepEqual(await statuses(directory, headers), [401], what)
    }
    const inQuery = await callScim(house, directory, {
      method: 'GET',
      path: `/Users?access_token=${key}`,
      headers: { authorization: '' },
    })
    assert.equal(inQuery.status, 401)
  })

  test('two credentials are ambiguous, whatever they are (A1)', async () => {
    assert.deepEqual(await statuses(directory, { 'x-api-key': directory.key }), [400])
    assert.deepEqual(await statuses(directory, { 'x-api-key': acme.owner.api_key }), [400])
  })

  test('the key as an API key opens this address, and no other', async () => {
    assert.equal(await works(directory, { authorization: '', 'x-api-key': directory.key }), 200)
    for (const headers of [{ authorization: `Bearer ${directory.key}` }, { 'x-api-key': directory.key }]) {
      const reply = await house.call({ method: 'GET', url: '/v1/users', tenant_id: acme.tenant_id, headers })
      assert.equal(reply.status, 401, reply.text)
    }
  })
})

suite('a key that has become invalid is refused at once (A9)', () => {
  let own: Directory
  let key_id: string

  before(async () => {
    own = await makeDirectory()
    const { body } = await as(acme, 'GET', `/v1/api-keys?identity_provider_id=${own.id}`)
    key_id = String((body.data as { id: string }[])[0]?.id)
  })

  test('when its directory is switched off, until it is on again', async () => {
    assert.equal(await works(own), 200)
    const set = async (enabled: boolean) =>
      assert.equal((await as(acme, 'PATCH', `/v1/identity-providers/${own.id}`, { enabled })).status, 200)
    await set(false)
    assert.deepEqual(await statuses(own), [403])
    await set(true)
    assert.equal(await works(own), 200)
  })

  test('when its tenant is suspended, until it is resumed', async () => {
    assert.equal(await works(theirs), 200)
    await suspendTenant(house.database, other.tenant_id, {})
    await until('it is refused', async () => (await works(theirs)) === 403)
    assert.deepEqual(await statuses(theirs), [403])
    await resumeTenant(house.database, other.tenant_id)
    await until('it is admitted', async () => (await works(theirs)) === 200)
  })

  test('but not when the user who made it leaves: people who leave must be stopped all the same', async () => {
    const maker = { ...acme, owner: acme.people.admin }
    const made = await makeDirectory(maker)
    assert.equal(await works(made), 200)
    assert.equal((await as(acme, 'PATCH', `/v1/users/${maker.owner.user_id}`, { active: false })).status, 200)
    assert.equal(await works(made), 200)
  })

  test('when it has been revoked', async () => {
    assert.equal(await works(own), 200)
    assert.equal((await as(acme, 'DELETE', `/v1/api-keys/${key_id}`)).status, 200)
    assert.deepEqual(await statuses(own), [401])
  })

  test('when it has expired, by the clock of the database', async () => {
    const made = await makeDirectory()
    const { body } = await as(acme, 'GET', `/v1/api-keys?identity_provider_id=${made.id}`)
    const id = String((body.data as { id: string }[])[0]?.id)
    await house.asSuperuser(`update api_key set expires_at = clock_timestamp() - interval '1 ms' where id = $1`, [id])
    assert.deepEqual(await statuses(made), [401])
  })

  test('when its directory is deleted', async () => {
    const made = await makeDirectory()
    assert.equal(await works(made), 200)
    assert.ok((await as(acme, 'DELETE', `/v1/identity-providers/${made.id}`)).status < 300)
    assert.deepEqual(await statuses(made), [401])
  })
})

import assert from 'node:assert/strict'
import { before, suite, test } from 'node:test'
import { testDatabase } from '../../test/support/database.ts'
import { type Caller, sliceServer } from '../../test/support/slice-server.ts'
import { newId } from '../kernel/id.ts'
import { systemRoles } from '../roles/role.ts'
import { createTenant } from '../tenants/create-tenant.flow.ts'
import { createApiKey } from './create-api-key.ts'
import { listApiKeys } from './list-api-keys.ts'
import { revokeApiKey } from './revoke-api-key.ts'

const db = await testDatabase()
const call = await sliceServer(db.database, { createApiKey, listApiKeys, revokeApiKey })
const owner = { email: 'owner@example.com', name: 'Owner', password: 'correct horse battery' }
let admin: Caller
let stranger: Caller

before(async () => {
  const [acme, other] = await Promise.all(['Acme', 'Other'].map((name) => createTenant(db.database, { name, owner })))
  assert.ok(acme && other)
  admin = { tenant_id: acme.tenant_id, user_id: acme.owner.id, scopes: systemRoles.admin.scopes }
  stranger = { tenant_id: other.tenant_id, user_id: other.owner.id, scopes: systemRoles.admin.scopes }
})

const create = (caller: Caller, more: object = {}) =>
  call(caller, 'POST', '/v1/api-keys', { name: 'ci', scopes: ['users:read'], ...more })
const revoke = (caller: Caller, id: unknown) => call(caller, 'DELETE', `/v1/api-keys/${id}`)

suite('creating an API key', () => {
  test('shows the key once, stores only its hash, and emits an event', async () => {
    const made = await create(admin, { expires_at: '2100-01-01T00:00:00+01:00' })
    assert.equal(made.status, 201)
    const { id, key, created_at, ...rest } = made.body
    assert.match(String(key), /^sp_/)
    assert.match(String(created_at), /Z$/)
    assert.deepEqual(rest, {
      name: 'ci',
      scopes: ['users:read'],
      created_by: admin.user_id,
      last_used_at: null,
      expires_at: '2099-12-31T23:00:00.000Z',
      revoked_at: null,
      revoked_by: null,
    })
    const [event] = await db.asSuperuser<{ data: object }>(
      `select data from event where type = 'api_key.created' and subject_id = $1`,
      [id],
    )
    assert.ok(event && !JSON.stringify(event).includes(String(key).split('_')[2] ?? ''))
  })

  const faulty: [string, object, number, string][] = [
    ['without a name', { name: undefined }, 400, 'invalid_input'],
    ['with an empty name', { name: '' }, 400, 'invalid_input'],
    ['with a name of two lines', { name: 'a\nb' }, 400, 'invalid_input'],
    ['with scopes that are no list', { scopes: 'users:read' }, 400, 'invalid_input'],
    ['with 501 scopes', { scopes: Array(501).fill('users:read') }, 400, 'invalid_input'],
    ['with an unknown scope', { scopes: ['users:read', 'users:fly'] }, 422, 'unprocessable'],
    ['with a scope that its creator lacks (P4)', { scopes: ['scim:provision'] }, 403, 'forbidden'],
    ['with an end in the past', { expires_at: '2020-01-01T00:00:00Z' }, 400, 'invalid_input'],
    ['with an end that is not a time', { expires_at: 'soon' }, 400, 'invalid_input'],
    ['with another creator', { created_by: newId() }, 400, 'invalid_input'],
  ]
  for (const [name, more, status, code] of faulty) {
    test(`is refused ${name}`, async () => {
      const { status: is, body } = await create(admin, more)
      assert.deepEqual([is, body.code], [status, code], JSON.stringify(body))
    })
  }

  test('by a key gives at most the scopes of that key, for the same user (P4)', async () => {
    const key: Caller = { ...admin, kind: 'api_key', scopes: ['api_keys:write', 'users:read'] }
    assert.equal((await create(key, { scopes: ['users:write'] })).status, 403)
    assert.equal((await create(key)).body.created_by, admin.user_id)
  })
})

suite('listing API keys', () => {
  test('shows the newest first, page by page, and no key nor hash (S3)', async () => {
    const made: Awaited<ReturnType<typeof create>>[] = []
    for (const name of ['one', 'two', 'three']) made.push(await create(stranger, { name }))
    const first = await call(stranger, 'GET', '/v1/api-keys?limit=2')
    const second = await call(stranger, 'GET', `/v1/api-keys?limit=2&cursor=${first.body.next_cursor}`)
    const names = [first, second].flatMap((page) => (page.body.data as { name: string }[]).map((key) => key.name))
    assert.deepEqual(names, ['three', 'two', 'one'])
    assert.deepEqual([first.body.has_more, second.body.has_more], [true, false])
    const answers = JSON.stringify([first.body, second.body, (await revoke(stranger, made[0]?.body.id)).body])
    // The cursor is sealed: its letters can contain either word by chance.
    assert.ok(!/sp_|hash/.test(answers.replaceAll(String(first.body.next_cursor), '')))
    for (const { body } of made) assert.ok(!answers.includes(String(body.key).split('_')[2] ?? ''))
    const kept = await db.asSuperuser<{ hash: string }>(`select encode(secret_hash, 'hex') as hash from api_key`)
    for (const { hash } of kept) assert.ok(!answers.includes(hash))
  })

  test('of an unknown identity provider gives an empty page (T9)', async () => {
    const reply = await call(admin, 'GET', `/v1/api-keys?identity_provider_id=${newId()}`)
    assert.deepEqual([reply.status, reply.body], [200, { data: [], has_more: false }])
    assert.equal((await call(admin, 'GET', '/v1/api-keys?identity_provider_id=x')).status, 400)
  })

  test('needs the scope', async () => {
    assert.equal((await call({ ...admin, scopes: ['api_keys:write'] }, 'GET', '/v1/api-keys')).status, 403)
  })
})

suite('revoking an API key', () => {
  test('keeps the first revoker and time after repeated calls (A15)', async () => {
    const { id } = (await create(admin)).body
    const all = await Promise.all([revoke(admin, id), revoke(admin, id), revoke(admin, id)])
    const again = await revoke({ ...admin, user_id: newId() }, id)
    assert.equal(again.status, 200)
    assert.equal(again.body.revoked_by, admin.user_id)
    for (const reply of all) assert.deepEqual(reply, again)
    const events = await db.asSuperuser(`select from event where type = 'api_key.revoked' and subject_id = $1`, [id])
    assert.equal(events.length, 1)
  })

  test('of another tenant, or of an unknown id, is not found and changes nothing (T2)', async () => {
    const { id } = (await create(stranger)).body
    const foreign = await revoke(admin, id)
    const never = await revoke(admin, newId())
    assert.deepEqual([foreign.status, foreign.body], [404, never.body])
    const [key] = await db.asSuperuser<{ revoked_at: string | null }>('select revoked_at from api_key where id = $1', [
      id,
    ])
    assert.equal(key?.revoked_at, null)
  })

  test('needs the scope', async () => {
    assert.equal((await revoke({ ...admin, scopes: ['api_keys:read'] }, newId())).status, 403)
  })
})

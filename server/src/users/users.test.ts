import assert from 'node:assert/strict'
import { before, suite, test } from 'node:test'
import { testDatabase } from '../../test/support/database.ts'
import { type Caller, sliceServer } from '../../test/support/slice-server.ts'
import { newId } from '../kernel/id.ts'
import { systemRoles } from '../roles/role.ts'
import { createTenant } from '../tenants/create-tenant.flow.ts'
import { createUser } from './create-user.ts'
import { getUser } from './get-user.ts'
import { listUsers } from './list-users.ts'

const db = await testDatabase()
const call = await sliceServer(db.database, { createUser, getUser, listUsers })
const owner = { email: 'owner@example.com', name: 'Owner', password: 'correct horse battery' }
let admin: Caller
let stranger: Caller

before(async () => {
  const [acme, other] = await Promise.all(['Acme', 'Other'].map((name) => createTenant(db.database, { name, owner })))
  assert.ok(acme && other)
  admin = { tenant_id: acme.tenant_id, user_id: acme.owner.id, scopes: systemRoles.admin.scopes }
  stranger = { tenant_id: other.tenant_id, user_id: other.owner.id, scopes: systemRoles.admin.scopes }
})

let count = 0
const body = (more: object = {}) => {
  count += 1
  return { email: `user${count}@example.com`, name: 'Anna', password: 'a long password', roles: ['user'], ...more }
}
const create = (caller: Caller, more: object = {}) => call(caller, 'POST', '/v1/users', body(more))

suite('creating a user', () => {
  test('returns the record, stores a hash, records the granter of the roles, and emits an event', async () => {
    const made = await create(admin, { roles: ['user', 'approver', 'user'] })
    assert.equal(made.status, 201)
    const { id, created_at, updated_at, ...rest } = made.body
    assert.match(String(created_at), /Z$/)
    assert.equal(updated_at, created_at)
    assert.deepEqual(rest, {
      email: `user${count}@example.com`,
      name: 'Anna',
      roles: ['approver', 'user'],
      auth_provider: 'local',
      active: true,
      email_verified: false,
      is_owner: false,
      avatar_base64: null,
    })
    const [kept] = await db.asSuperuser<{ hash: string }>('select hash from user_password where user_id = $1', [id])
    assert.match(kept?.hash ?? '', /^\$argon2id\$/)
    const given = await db.asSuperuser('select granted_by from user_role where user_id = $1', [id])
    assert.deepEqual(given, Array(2).fill({ granted_by: admin.user_id }))
    const events = await db.asSuperuser('select type, actor_id, subject_id from event where subject_id = $1', [id])
    assert.deepEqual(events, [{ type: 'user.created', actor_id: admin.user_id, subject_id: id }])
    assert.ok(!JSON.stringify(made.body).includes('argon2id'))
  })

  test('of a provider stores no password', async () => {
    const made = await create(admin, { auth_provider: 'oidc', password: undefined })
    assert.equal(made.status, 201)
    assert.deepEqual(await db.asSuperuser('select from user_password where user_id = $1', [made.body.id]), [])
  })

  const faulty: [string, object, number, string][] = [
    ['without an address', { email: undefined }, 400, 'invalid_input'],
    ['with two addresses', { email: 'a@b.co, c@d.co' }, 400, 'invalid_input'],
    ['without a password', { password: undefined }, 400, 'invalid_input'],
    ['with a short password', { password: 'short' }, 400, 'invalid_input'],
    ['with a common password', { password: 'password1' }, 400, 'invalid_input'],
    ['with a password for an oidc user (P10)', { auth_provider: 'oidc' }, 400, 'invalid_input'],
    ['with an unknown provider', { auth_provider: 'ldap' }, 400, 'invalid_input'],
    ['with is_owner (P10)', { is_owner: true }, 400, 'invalid_input'],
    ['with email_verified (P10)', { email_verified: true }, 400, 'invalid_input'],
    ['with active (P10)', { active: true }, 400, 'invalid_input'],
    ['with tenant_id (P10)', { tenant_id: newId() }, 400, 'invalid_input'],
    ['with an id (P10)', { id: newId() }, 400, 'invalid_input'],
    ['without roles', { roles: undefined }, 400, 'invalid_input'],
    ['with an unknown role', { roles: ['root'] }, 422, 'unprocessable'],
    ['with the role of auditors', { roles: ['auditor'] }, 422, 'unprocessable'],
  ]
  for (const [name, more, status, code] of faulty) {
    test(`is refused ${name}`, async () => {
      const { status: is, body } = await create(admin, more)
      assert.deepEqual([is, body.code], [status, code], JSON.stringify(body))
    })
  }

  test('by a caller who lacks a scope of the role is 403, for a new and a known address (P10, D1)', async () => {
    const helper = { ...admin, scopes: ['users:write', 'requests:create'] }
    for (const email of ['brand-new@example.com', owner.email]) {
      assert.deepEqual((await create(helper, { email, roles: ['admin'] })).status, 403)
      assert.deepEqual((await create({ ...admin, scopes: [] }, { email })).status, 403)
    }
    assert.equal((await create(helper, { roles: ['user'] })).status, 201)
  })

  test('twice at once under two spellings creates one (R10)', async () => {
    for (const [one, two] of [
      ['straße@example.com', 'STRASSE@example.com'],
      ['ırmak@example.com', 'IRMAK@example.com'],
      ['same@example.com', 'same@example.com'],
    ]) {
      const replies = await Promise.all([create(admin, { email: one }), create(admin, { email: two })])
      assert.deepEqual(replies.map((reply) => reply.status).sort(), [201, 409])
      assert.equal(replies.find((reply) => reply.status === 409)?.body.code, 'user_exists')
    }
  })

  test('with an address of another tenant succeeds (T11)', async () => {
    const email = 'both@example.com'
    assert.equal((await create(stranger, { email })).status, 201)
    assert.equal((await create(admin, { email })).status, 201)
  })

  test('requires the tenant’s minimum password length', async () => {
    await db.asSuperuser(`insert into setting (tenant_id, key, value) values ($1, 'auth.password_min_length', '20')`, [
      stranger.tenant_id,
    ])
    assert.equal((await create(stranger, { password: 'only nineteen chars' })).status, 400)
    assert.equal((await create(stranger, { password: 'twenty characters ok' })).status, 201)
  })
})

suite('reading users', () => {
  test('lists every user once, page by page, in the order of creation, without pictures', async () => {
    const seen: unknown[] = []
    let cursor: unknown
    do {
      const reply = await call(admin, 'GET', `/v1/users?limit=3${cursor === undefined ? '' : `&cursor=${cursor}`}`)
      assert.equal(reply.status, 200)
      for (const user of reply.body.data as { id: string }[]) {
        seen.push(user.id)
        assert.ok(!('avatar_base64' in user))
      }
      cursor = reply.body.next_cursor
    } while (cursor !== undefined)
    const rows = await db.asSuperuser<{ id: string }>('select id from tenant_user where tenant_id = $1 order by id', [
      admin.tenant_id,
    ])
    assert.deepEqual(
      seen,
      rows.map((row) => row.id),
    )
  })

  test('of another tenant is not found, like an unknown user (T2)', async () => {
    const foreign = await call(admin, 'GET', `/v1/users/${stranger.user_id}`)
    const never = await call(admin, 'GET', `/v1/users/${newId()}`)
    assert.deepEqual([foreign.status, foreign.body], [404, never.body])
  })

  test('needs the scope', async () => {
    const withoutScope = { ...admin, scopes: ['users:write'] }
    assert.equal((await call(withoutScope, 'GET', '/v1/users')).status, 403)
    assert.equal((await call(withoutScope, 'GET', `/v1/users/${admin.user_id}`)).status, 403)
  })
})

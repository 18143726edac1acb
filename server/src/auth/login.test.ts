import assert from 'node:assert/strict'
import { after, before, suite, test } from 'node:test'
import { testDatabase } from '../../test/support/database.ts'
import { cheapPassword } from '../../test/support/house.ts'
import { noDiscovery } from '../../test/support/no-discovery.ts'
import { noEgress } from '../../test/support/no-egress.ts'
import { noProviders } from '../../test/support/no-providers.ts'
import { noStreamHub } from '../../test/support/no-stream-hub.ts'
import { unlogged } from '../../test/support/unlogged.ts'
import { cursorCodec } from '../http/cursor.ts'
import { buildServer } from '../http/server.ts'
import { sessionCookie } from '../http/session-cookie.ts'
import { newId } from '../kernel/id.ts'
import { listPermissions } from '../permissions/list-permissions.ts'
import { derivedKeys, rootKeyOf, rootKeysOf } from '../secrets/root-key.ts'
import { openSealer } from '../secrets/sealer.ts'
import { createTenant } from '../tenants/create-tenant.flow.ts'
import { getUser } from '../users/get-user.ts'
import { unknownTenants, verifyPassword } from '../users/password.ts'
import { createAdmissionCache } from './admission-cache.ts'
import { authenticateWith } from './authenticate.flow.ts'
import { getJwks } from './get-jwks.ts'
import { causeOfRefusal, login } from './login.ts'
import { openTokenKeys } from './token-keys.flow.ts'

const db = await testDatabase()
const owner = { email: 'Owner@Example.com', name: 'Owner', password: 'correct horse battery' }
const publicUrl = 'http://127.0.0.1'
const onFailure = (error: unknown) => assert.fail(String(error))
const rootKeys = rootKeysOf([rootKeyOf(Buffer.alloc(32, 1))])
const tokens = await openTokenKeys({
  database: db.database,
  rootKeys,
  issuer: publicUrl,
  onFailure,
})
const server = await buildServer({
  operations: { login, getJwks, getUser, listPermissions },
  parts: {
    database: db.database,
    cursors: cursorCodec(derivedKeys(rootKeys, 'cursor')),
    tokens,
    sealer: openSealer(rootKeys),
    egress: noEgress,
    public_url: 'http://127.0.0.1',
    sends_mail: false,
    providerSignIn: noProviders(db.database),
    discovery: noDiscovery,
    sessionCookie: sessionCookie(publicUrl),
    streams: noStreamHub,
    ...authenticateWith({
      database: db.database,
      confirming: db.database,
      tokens,
      admissions: createAdmissionCache({ isFresh: () => false }),
      limitBySource: false,
      onFailure,
    }),
    dropAdmissions: () => undefined,
    recordRefusal: async () => undefined,
    afterWrite: () => undefined,
  },
  findUnreadiness: async () => undefined,
  trustProxy: false,
  publicUrl,
  ...unlogged,
})
after(() => server.close())

let tenant_id: string
let owner_id: string
before(async () => {
  const made = await createTenant(db.database, { name: 'Acme', owner })
  tenant_id = made.tenant_id
  owner_id = made.owner.id
})

const signIn = (email: string, password: string, tenant = tenant_id) =>
  server.inject({
    method: 'POST',
    url: '/v1/auth/login',
    headers: { 'x-tenant-id': tenant },
    payload: { email, password },
  })

const events = () =>
  db.asSuperuser<{ type: string; actor_id: string | null; subject_id: string; data: Record<string, unknown> }>(
    `select type, actor_id, subject_id, data from event where type like 'auth.%' order by seq`,
  )

suite('signing in', () => {
  test('with the right password returns a token with the user’s scopes, whatever the case of the address', async () => {
    const reply = await signIn('owner@example.COM', owner.password)
    assert.equal(reply.statusCode, 200)
    const { token, expires_at } = reply.json<{ token: string; expires_at: string }>()
    const lasts = new Date(expires_at).getTime() - Date.now()
    assert.ok(lasts > 3_590_000 && lasts <= 3_600_000, expires_at)
    const headers = { authorization: `Bearer ${token}`, 'x-tenant-id': tenant_id }
    const me = await server.inject({ url: `/v1/users/${owner_id}`, headers })
    assert.equal(me.statusCode, 200)
    assert.deepEqual(
      [me.json().email, me.json().roles, me.json().is_owner, me.json().avatar_base64],
      [owner.email, ['admin'], true, null],
    )
    const permissions = await server.inject({ url: '/v1/permissions', headers })
    assert.equal(permissions.json().data[0].resource, 'requests')
  })

  test('gives one answer for every cause of refusal, and records the cause in the audit log only (D1)', async () => {
    const before = (await events()).length
    const bodies = await Promise.all([
      signIn(owner.email, 'wrong'),
      signIn(owner.email, ''),
      signIn('nobody@example.com', owner.password),
      signIn('no address', owner.password),
      signIn(owner.email, owner.password, newId()),
    ])
    for (const reply of bodies) assert.deepEqual([reply.statusCode, reply.body], [401, bodies[0].body])
    const emitted = (await events()).slice(before)
    assert.deepEqual(
      emitted.map((event) => [event.type, event.subject_id, event.data.cause].join(' ')).sort(),
      [
        ...Array(2).fill('auth.refused unknown unknown_user'),
        ...Array(2).fill(`auth.refused ${owner_id} wrong_password`),
      ].sort(),
    )
    assert.ok(!JSON.stringify(emitted).includes('@'), 'an address was stored')
  })

  test('of a deactivated user, and of one from a provider, is refused with the same answer', async () => {
    const wrong = await signIn(owner.email, 'wrong')
    for (const bend of ['active = false', `active = true, auth_provider = 'oidc'`]) {
      await db.asSuperuser(`update tenant_user set ${bend} where id = $1`, [owner_id])
      const reply = await signIn(owner.email, owner.password)
      assert.deepEqual([reply.statusCode, reply.body], [401, wrong.body])
    }
    await db.asSuperuser(`update tenant_user set auth_provider = 'local' where id = $1`, [owner_id])
    assert.equal((await signIn(owner.email, owner.password)).statusCode, 200)
  })

  test('without a tenant is refused', async () => {
    const reply = await server.inject({ method: 'POST', url: '/v1/auth/login', payload: { email: 'a', password: 'b' } })
    assert.equal(reply.statusCode, 400)
  })
})

suite('while as many sign-ins of one tenant are checked as may be', () => {
  /** Checks passwords without a pause: two run and 50 wait, and each that ends begins again, until one is refused. */
  function flood(whose: { tenant_id: string }) {
    let isOver = false
    const check = async () => {
      while (!isOver) await verifyPassword(whose, 'x', cheapPassword.hash)
    }
    const checks = Array.from({ length: 52 }, () => check().catch(() => undefined))
    return async () => {
      isOver = true
      await Promise.all(checks)
    }
  }

  test('more of the tenant are refused, for known and unknown users, and those of others are answered (A14)', async () => {
    const other = await createTenant(db.database, { name: 'Other', owner })
    const stop = flood({ tenant_id })
    const flooded = [await signIn(owner.email, owner.password), await signIn('nobody@example.com', 'x')]
    const others = [await signIn(owner.email, owner.password, other.tenant_id), await signIn('a@b.co', 'x', newId())]
    await stop()
    for (const reply of flooded) assert.deepEqual([reply.statusCode, reply.json().code], [503, 'unavailable'])
    assert.deepEqual(
      others.map(({ statusCode }) => statusCode),
      [200, 401],
    )
  })

  test('made-up tenants wait, and are refused, behind each other alone (A14)', async () => {
    const stop = flood(unknownTenants)
    const madeUp = [await signIn('a@b.co', 'x', newId()), await signIn('b@b.co', 'x', newId())]
    const known = [await signIn(owner.email, owner.password), await signIn('nobody@example.com', 'x')]
    await stop()
    for (const { statusCode } of madeUp) assert.equal(statusCode, 503)
    assert.deepEqual(
      known.map(({ statusCode }) => statusCode),
      [200, 401],
    )
  })
})

test('each cause of a refused sign-in has its own name', () => {
  const anna = { user_id: newId(), active: true, suspended: false, auth_provider: 'local', hash: 'x' }
  const nobody = { user_id: null, active: null, suspended: null, auth_provider: null, hash: null }
  const cases: [string | undefined, string | undefined][] = [
    [causeOfRefusal(nobody, true), 'unknown_user'],
    [causeOfRefusal({ ...anna, auth_provider: 'oidc' }, true), 'not_local'],
    [causeOfRefusal({ ...anna, active: false }, true), 'inactive'],
    [causeOfRefusal({ ...anna, active: false, suspended: true }, true), 'inactive'],
    [causeOfRefusal({ ...anna, suspended: true }, true), 'suspended'],
    [causeOfRefusal(anna, false), 'wrong_password'],
    [causeOfRefusal(anna, true), undefined],
  ]
  for (const [cause, should] of cases) assert.equal(cause, should)
})

test('the public keys are readable without a credential', async () => {
  const reply = await server.inject({ url: '/.well-known/jwks.json' })
  const [key] = reply.json<{ keys: { kty: string; d?: string }[] }>().keys
  assert.deepEqual([reply.statusCode, key?.kty, key?.d], [200, 'OKP', undefined])
})

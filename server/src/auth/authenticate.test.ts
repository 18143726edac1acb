import assert from 'node:assert/strict'
import { before, suite, test } from 'node:test'
import { CompactSign, generateKeyPair, SignJWT } from 'jose'
import { testDatabase } from '../../test/support/database.ts'
import { beginSession } from '../../test/support/session.ts'
import { sql } from '../db/sql.ts'
import type { Authenticate } from '../http/admission.ts'
import { newId } from '../kernel/id.ts'
import { rootKeyOf, rootKeysOf } from '../secrets/root-key.ts'
import { createTenant, operatorCtx } from '../tenants/create-tenant.flow.ts'
import { issueKey } from '../tenants/operator.flow.ts'
import { insertUser } from '../users/user-store.ts'
import { createAdmissionCache } from './admission-cache.ts'
import { authenticateWith } from './authenticate.flow.ts'
import { openTokenKeys, type TokenKeys } from './token-keys.flow.ts'

const db = await testDatabase()
const rootKeys = rootKeysOf([rootKeyOf(Buffer.alloc(32, 1))])
const issuer = 'http://127.0.0.1:8080'
const failures: unknown[] = []
const onFailure = (error: unknown) => failures.push(error)
const open = (keys = rootKeys) => openTokenKeys({ database: db.database, rootKeys: keys, issuer, onFailure })
const neverKept = createAdmissionCache({ isFresh: () => false })
const owner = { email: 'owner@example.com', name: 'Owner', password: 'correct horse battery' }

let tokens: TokenKeys
let authenticate: Authenticate
let tenant_id: string
let owner_id: string

before(async () => {
  const both = await Promise.all([open(), open()])
  tokens = both[0]
  const limits = { admissions: neverKept, limitBySource: false }
  authenticate = authenticateWith({
    database: db.database,
    confirming: db.database,
    tokens,
    ...limits,
    onFailure,
  }).authenticate
  const made = await createTenant(db.database, { name: 'Acme', owner })
  tenant_id = made.tenant_id
  owner_id = made.owner.id
})

const byToken = (token: string) => authenticate({ authorization: `Bearer ${token}` }, '127.0.0.1')
const byKey = (api_key: string) => authenticate({ api_key }, '127.0.0.1')
const issue = async (user_id: string, now = new Date()) => issueFor(user_id, await sessionOf(user_id), { now })
const issueFor = async (user_id: string, session_id: string, { now = new Date(), tenant = tenant_id } = {}) =>
  (await tokens.issue({ tenant_id: tenant, user_id, session_id, now })).token
const sessionOf = (user_id: string, tenant = tenant_id) => beginSession(db.database.tenant(tenant), user_id)

async function makeUser(email: string, roles: ('user' | 'admin')[]) {
  const ctx = operatorCtx(db.database.tenant(tenant_id))
  const user = { id: newId(), email, name: email, roles, auth_provider: 'local' as const, avatar_base64: null }
  return insertUser(ctx, { ...user, password_hash: null, is_owner: false })
}

const keyFor = (email: string, scopes: string[] | 'all' = 'all') =>
  issueKey(db.database, { tenant_id, email, name: 'a key', scopes, expires_in: null })

async function until(isSo: () => Promise<boolean>) {
  const end = performance.now() + 10_000
  while (!(await isSo())) {
    assert.ok(performance.now() < end, 'the condition was not met within 10 s')
    await new Promise((resolve) => setTimeout(resolve, 20))
  }
}

suite('token keys', () => {
  test('processes that start together end with one key', async () => {
    const [row] = await db.asSuperuser<{ keys: number }>('select count(*)::integer as keys from signing_key')
    assert.equal(row?.keys, 1)
  })

  test('are published without their private part', async () => {
    const [key] = await tokens.publicKeys()
    assert.deepEqual(Object.keys(key ?? {}).sort(), ['alg', 'crv', 'kid', 'kty', 'use', 'x'])
  })

  test('sealed under another root key cause one clear error', async () => {
    await assert.rejects(open(rootKeysOf([rootKeyOf(Buffer.alloc(32, 2))])), /root key \(SECRET_KEY.*is not the one/)
  })

  test('made later by another process are found at the first token that names them', async () => {
    const elder = await open()
    await db.asSuperuser('create table kept as select * from signing_key')
    await db.asSuperuser('delete from signing_key')
    const younger = await open()
    await db.asSuperuser('insert into signing_key select * from kept')
    const { token } = await younger.issue({ tenant_id, user_id: owner_id, session_id: newId(), now: new Date() })
    await until(async () => (await elder.verify(token)) !== undefined)
    assert.equal((await elder.publicKeys()).length, 2)
  })

  test('planted in the table as public keys do not verify a token', async () => {
    const { privateKey, publicKey } = await generateKeyPair('EdDSA', { crv: 'Ed25519', extractable: true })
    const jwk = await crypto.subtle.exportKey('jwk', publicKey)
    await db.asSuperuser(`update signing_key set public_jwk = $1`, [JSON.stringify(jwk)])
    const [kept] = await db.asSuperuser<{ kid: string }>('select kid from signing_key limit 1')
    const fresh = await open()
    const now = Math.floor(Date.now() / 1000)
    const who = { sub: owner_id, tid: tenant_id, sid: await sessionOf(owner_id) }
    const claims = { iss: issuer, aud: 'sallyport', ...who, iat: now, exp: now + 60, jti: 'x' }
    const token = await new SignJWT(claims)
      .setProtectedHeader({ alg: 'EdDSA', typ: 'at+jwt', kid: kept?.kid ?? '' })
      .sign(privateKey)
    assert.equal(await fresh.verify(token), undefined)
  })
})

suite('a token', () => {
  test('admits its user, in its tenant, with the scopes of their roles', async () => {
    const admission = await byToken(await issue(owner_id))
    assert.equal(admission?.tenant_id, tenant_id)
    assert.equal(admission.via, 'token')
    assert.deepEqual([admission.actor.kind, admission.actor.user_id], ['user', owner_id])
    assert.ok(admission.actor.scopes.has('api_keys:write') && !admission.actor.scopes.has('scim:provision'))
  })

  test('is valid for at most an hour and a minute, by the database clock (A4)', async () => {
    assert.ok(await byToken(await issue(owner_id, new Date(Date.now() - 3_500_000))))
    assert.equal(await byToken(await issue(owner_id, new Date(Date.now() - 3_661_000))), undefined)
    assert.equal(await byToken(await issue(owner_id, new Date(Date.now() + 120_000))), undefined)
  })

  test('altered by one character, cut, or signed with our public key as a secret is refused (A3)', async () => {
    const token = await issue(owner_id)
    const [head = '', body = '', mark = ''] = token.split('.')
    const other = mark.startsWith('A') ? 'B' : 'A'
    const [key] = await tokens.publicKeys()
    const forged = await new CompactSign(Buffer.from(body, 'base64url'))
      .setProtectedHeader({ alg: 'HS256', typ: 'at+jwt', kid: String(key?.kid) })
      .sign(Buffer.from(String(key?.x), 'base64url'))
    const none = `${Buffer.from('{"alg":"none","typ":"at+jwt","kid":"x"}').toString('base64url')}.${body}.x`
    for (const bad of [`${head}.${body}.${other}${mark.slice(1)}`, token.slice(0, -2), forged, none]) {
      assert.equal(await byToken(bad), undefined)
    }
  })

  test('of a user of another tenant, or of no user, is refused', async () => {
    const other = await createTenant(db.database, { name: 'Other', owner })
    const sessions = [await sessionOf(owner_id), await sessionOf(other.owner.id, other.tenant_id), newId()]
    for (const session_id of sessions) {
      assert.equal(await byToken(await issueFor(other.owner.id, session_id)), undefined)
      assert.equal(await byToken(await issueFor(owner_id, session_id, { tenant: other.tenant_id })), undefined)
      assert.equal(await byToken(await issueFor(newId(), session_id)), undefined)
    }
  })

  test('of a user who lost a role or was deactivated gives only current access (A6)', async () => {
    const bob = await makeUser('bob@example.com', ['user', 'admin'])
    const token = await issue(bob.id)
    assert.ok((await byToken(token))?.actor.scopes.has('users:write'))
    await db.asSuperuser(`delete from user_role where user_id = $1 and role_id = 'admin'`, [bob.id])
    assert.deepEqual([...((await byToken(token))?.actor.scopes ?? [])], ['requests:create'])
    await db.asSuperuser('update tenant_user set active = false where id = $1', [bob.id])
    assert.equal(await byToken(token), undefined)
  })
})

suite('an API key', () => {
  test('admits its creator, with its own scopes', async () => {
    const { key, id } = await keyFor(owner.email, ['users:read'])
    const admission = await byKey(key)
    assert.deepEqual([admission?.tenant_id, admission?.via], [tenant_id, 'api_key'])
    assert.deepEqual(admission?.actor, {
      kind: 'api_key',
      user_id: owner_id,
      api_key_id: id,
      scopes: new Set(['users:read']),
    })
  })

  test('records its use at most once a minute', async () => {
    const { key, id } = await keyFor(owner.email)
    const used = async () =>
      (await db.asSuperuser<{ at: string | null }>('select last_used_at as at from api_key where id = $1', [id]))[0]?.at
    await byKey(key)
    await until(async () => (await used()) !== null)
    const first = await used()
    await byKey(key)
    await db.database.tenant(tenant_id).read(sql`select 1`)
    assert.deepEqual(await used(), first)
    await db.asSuperuser(`update api_key set last_used_at = last_used_at - interval '61 seconds' where id = $1`, [id])
    await byKey(key)
    await until(async () => String(await used()) >= String(first))
  })

  test('with another secret, or that was never created, is refused (A8)', async () => {
    const { key, id } = await keyFor(owner.email)
    const { makeKeyText } = await import('../api-keys/api-key-text.ts')
    const stranger = makeKeyText('api')
    await db.asSuperuser('update api_key set secret_hash = $2 where id = $1', [id, stranger.secret_hash])
    for (const text of [key, stranger.text, ` ${key}`, key.slice(0, -1), '']) assert.equal(await byKey(text), undefined)
  })

  test('that is revoked or expired is refused; one that ends at this instant has expired (A9)', async () => {
    const { key, id } = await keyFor(owner.email)
    const bend = (change: string) => db.asSuperuser(`update api_key set ${change} where id = $1`, [id])
    await bend(`expires_at = clock_timestamp() + interval '1 minute'`)
    assert.ok(await byKey(key))
    await bend('expires_at = clock_timestamp()')
    assert.equal(await byKey(key), undefined)
    await bend('expires_at = null, revoked_at = clock_timestamp()')
    assert.equal(await byKey(key), undefined)
  })

  test('holds at most its creator’s current scopes, and nothing when the creator is gone (A10, P4)', async () => {
    const eve = await makeUser('eve@example.com', ['user', 'admin'])
    const { key } = await keyFor(eve.email, ['users:write', 'requests:create'])
    await db.asSuperuser(`delete from user_role where user_id = $1 and role_id = 'admin'`, [eve.id])
    assert.deepEqual([...((await byKey(key))?.actor.scopes ?? [])], ['requests:create'])
    await db.asSuperuser('update tenant_user set active = false where id = $1', [eve.id])
    assert.equal(await byKey(key), undefined)
  })

  test('causes no failure outside of the requests', () => assert.deepEqual(failures, []))
})

test('no credential identifies no caller', async () => {
  assert.equal(await authenticate({ authorization: undefined, api_key: undefined }, '127.0.0.1'), undefined)
})

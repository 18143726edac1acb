import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { beforeEach, suite, test } from 'node:test'
import { sql } from '../../src/db/sql.ts'
import { newId } from '../../src/kernel/id.ts'
import { browsersOf, cookieSetBy, publicUrl, sessionOf } from '../support/browser.ts'
import { openHouse, type TestTenant } from '../support/house.ts'
import { locksAreWaitedFor } from '../support/lock.ts'

/** A browser gets the session of a sign-in. */
const house = await openHouse({ PUBLIC_URL: publicUrl })
const browsers = browsersOf(house)

let tenant: TestTenant
beforeEach(async () => {
  tenant = await house.tenant('beginning')
})
const freshToken = (person = tenant.people.user) => house.tokenOf(tenant.tenant_id, person.user_id, new Date())

/** The row of a session. */
async function rowOf(session_id: string) {
  const [row] = await house.asSuperuser<{ cookie_hash: Buffer | null; text: string }>(
    'select s.cookie_hash, s::text as text from user_session s where id = $1',
    [session_id],
  )
  return row
}

suite('a session begins', () => {
  test('once: the second time the answer is 401, and the first cookie stays valid (A16)', async () => {
    const token = await freshToken()
    const browser = browsers.browserWith(await browsers.start(token), token)
    const again = await browsers.start(token)
    assert.deepEqual([again.status, again.body.code, cookieSetBy(again)], [401, 'unauthenticated', undefined])
    assert.equal(await browser.status(), 200)
  })

  test('once, of two calls that wait for the same row too (A16)', async () => {
    const token = await freshToken()
    const replies: ReturnType<typeof browsers.start>[] = []
    await house.database.tenant(tenant.tenant_id).interactive(async (inside) => {
      await inside.write([sql`select from user_session where id = ${sessionOf(token)} for update`])
      replies.push(browsers.start(token), browsers.start(token))
      await locksAreWaitedFor(house, 2)
    })
    const answers = await Promise.all(replies)
    assert.deepEqual(answers.map(({ status }) => status).sort(), [201, 401])
    const begun = answers.find(({ status }) => status === 201)
    assert.ok(begun)
    assert.equal(await browsers.browserWith(begun, token).status(), 200)
  })

  test('within 60 seconds of the sign-in: an older token still works, but begins none (A16)', async () => {
    const age = async (token: string, seconds: number) =>
      house.asSuperuser(
        'update user_session set created_at = clock_timestamp() - make_interval(secs => $2) where id = $1',
        [sessionOf(token), seconds],
      )
    const [old, young] = [await freshToken(), await freshToken()]
    await age(old, 60)
    await age(young, 30)
    const refused = await browsers.start(old)
    assert.deepEqual([refused.status, refused.body.code, cookieSetBy(refused)], [401, 'unauthenticated', undefined])
    assert.match(String(refused.body.message), /within 60 seconds/)
    const call = { method: 'GET', url: '/v1/users/me/sessions', token: old, tenant_id: tenant.tenant_id }
    assert.equal((await house.call(call)).status, 200)
    assert.equal((await browsers.start(young)).status, 201)
  })

  test('not by the token of a session that has ended (A16)', async () => {
    const token = await freshToken()
    const signOut = { method: 'POST', url: '/v1/auth/logout', token }
    assert.equal((await house.call(signOut)).status, 200)
    assert.equal((await browsers.start(token)).status, 401)
  })

  test('only with a token: not with an API key, not with a cookie, not without a credential (A11, A16)', async () => {
    const { api_key } = tenant.people.user
    const { cookie } = await browsers.signIn(tenant.tenant_id, tenant.people.user.user_id)
    const begin = (headers: Record<string, string>) =>
      house.call({ method: 'POST', url: '/v1/auth/session', headers: { ...browsers.page, ...headers } })
    const key = { 'x-api-key': api_key, 'x-tenant-id': tenant.tenant_id }
    const refused: [headers: Record<string, string>, status: number, message: RegExp][] = [
      [key, 403, /takes no API key; send a token/],
      [{ cookie }, 403, /takes only a token/],
      [{ ...key, cookie }, 403, /takes no API key; send a token/],
      [{}, 401, /missing or not valid/],
    ]
    for (const [headers, status, message] of refused) {
      const reply = await begin(headers)
      assert.deepEqual([reply.status, cookieSetBy(reply)], [status, undefined])
      assert.match(String(reply.body.message), message)
    }
  })

  test('only in the tenant of the token, which need not be named (T1)', async () => {
    const other = await house.tenant('other')
    const token = await freshToken()
    const foreign = await browsers.start(token, {}, { tenant_id: other.tenant_id })
    assert.deepEqual([foreign.status, foreign.body.code], [403, 'tenant_mismatch'])
    const malformed = await browsers.start(token, { 'x-tenant-id': 'acme' })
    assert.deepEqual([malformed.status, malformed.body.code], [400, 'invalid_input'])
    assert.equal((await browsers.start(token, {}, { tenant_id: tenant.tenant_id })).status, 201)
  })

  test('never by a request of another site, and such a request does not use the sign-in up (A16)', async () => {
    const token = await freshToken()
    const foreign: Record<string, string>[] = [
      { origin: 'https://evil.example' },
      { origin: 'null' },
      { origin: 'http://sallyport.example.com' },
      { origin: 'https://sallyport.example.com:8443' },
      { origin: 'https://evil.example', 'sec-fetch-site': 'cross-site' },
      { origin: '', 'sec-fetch-site': 'same-site' },
      { origin: '', 'sec-fetch-site': 'none' },
      { origin: '' },
    ]
    for (const headers of foreign) {
      const reply = await browsers.start(token, headers)
      assert.deepEqual([reply.status, reply.body.code], [403, 'forbidden'], JSON.stringify(headers))
      assert.equal(cookieSetBy(reply), undefined)
    }
    const { host } = browsers.page
    const bare = await house.call({ method: 'POST', url: '/v1/auth/session', token, headers: { host } })
    assert.equal(bare.status, 403, 'neither header')
    const own = { host, 'sec-fetch-site': 'same-origin' }
    assert.equal((await house.call({ method: 'POST', url: '/v1/auth/session', token, headers: own })).status, 201)
  })

  test('only at the service’s own address (A18)', async () => {
    const token = await freshToken()
    for (const host of ['evil.example', 'sallyport.example.com:8443', '127.0.0.1']) {
      const reply = await browsers.start(token, { host })
      assert.deepEqual([reply.status, reply.body.code], [421, 'misdirected_request'], host)
      assert.equal(cookieSetBy(reply), undefined)
    }
    assert.equal((await browsers.start(token)).status, 201)
  })
})

suite('the answer to a browser', () => {
  test('sets the cookie with exactly its attributes, and is kept by no cache (A16)', async () => {
    const reply = await browsers.start(await freshToken())
    assert.equal(reply.status, 201)
    const form = /^__Host-sallyport=[\w-]{86}; Max-Age=(\d+); Path=\/; HttpOnly; SameSite=Lax; Secure$/
    const [, seconds] = form.exec(String(cookieSetBy(reply))) ?? []
    assert.ok(Number(seconds) <= 43_200 && Number(seconds) > 43_000, seconds)
    assert.equal(reply.headers['cache-control'], 'no-store')
    assert.deepEqual(Object.keys(reply.body).sort(), ['ends_at', 'id', 'idle_seconds'])
  })

  test('is the only place with the secret: the database has its hash (A16)', async () => {
    const browser = await browsers.signIn(tenant.tenant_id, tenant.people.user.user_id)
    const secret = Buffer.from(browser.cookie.split('=')[1] ?? '', 'base64url').subarray(32)
    const row = await rowOf(browser.session_id)
    assert.deepEqual(row?.cookie_hash, createHash('sha256').update(secret).digest())
    const rows = await house.asSuperuser<{ text: string }>(
      'select s::text as text from user_session s union all select e::text from event e union all select k::text from kept_answer k',
    )
    const kept = rows.map(({ text }) => text).join('\n')
    for (const spelling of ['base64url', 'base64', 'hex'] as const) assert.ok(!kept.includes(secret.toString(spelling)))
    assert.ok(!kept.includes(browser.cookie.split('=')[1] ?? '-'))
  })

  test('is never kept for another call with the same `Idempotency-Key` (S9)', async () => {
    const token = await freshToken()
    const headers = { 'idempotency-key': newId() }
    const first = await browsers.start(token, headers)
    const second = await browsers.start(token, headers)
    assert.deepEqual([first.status, second.status], [201, 401])
    assert.deepEqual([cookieSetBy(second), second.headers['idempotency-replayed']], [undefined, undefined])
    assert.deepEqual(await house.asSuperuser('select from kept_answer where tenant_id = $1', [tenant.tenant_id]), [])
    const signOut = () => house.call({ method: 'POST', url: '/v1/auth/logout', token, headers })
    assert.deepEqual([(await signOut()).status, (await signOut()).status], [200, 401])
    assert.deepEqual(await house.asSuperuser('select from kept_answer where tenant_id = $1', [tenant.tenant_id]), [])
  })
})

suite('a second sign-in in the same browser', () => {
  test('ends the session that the browser had, with its tokens (A16)', async () => {
    const { user_id } = tenant.people.user
    const before = await browsers.signIn(tenant.tenant_id, user_id)
    const elsewhere = await browsers.signIn(tenant.tenant_id, user_id)
    const after = await browsers.signIn(tenant.tenant_id, user_id, before.cookie)
    assert.deepEqual([await before.status(), await elsewhere.status(), await after.status()], [401, 200, 200])
    assert.equal(await rowOf(before.session_id), undefined)
    const call = { method: 'GET', url: '/v1/users/me/sessions', tenant_id: tenant.tenant_id, token: before.token }
    assert.equal((await house.call(call)).status, 401)
  })

  test('of another user, or of another tenant, ends nothing of the first', async () => {
    const first = await browsers.signIn(tenant.tenant_id, tenant.people.user.user_id)
    await browsers.signIn(tenant.tenant_id, tenant.people.approver.user_id, first.cookie)
    const other = await house.tenant('other')
    await browsers.signIn(other.tenant_id, other.people.user.user_id, first.cookie)
    assert.equal(await first.status(), 200)
  })

  test('ends nothing by a cookie with the right ids and another secret, nor by a malformed one', async () => {
    const { user_id } = tenant.people.user
    const first = await browsers.signIn(tenant.tenant_id, user_id)
    const [name = '', value = ''] = first.cookie.split('=')
    const bytes = Buffer.from(value, 'base64url')
    bytes[40] = (bytes[40] ?? 0) ^ 1
    for (const forged of [bytes.toString('base64url'), value.slice(0, -1), '', 'x']) {
      await browsers.signIn(tenant.tenant_id, user_id, `${name}=${forged}`)
    }
    assert.equal(await first.status(), 200)
  })

  test('that fails ends nothing either', async () => {
    const { user_id } = tenant.people.user
    const first = await browsers.signIn(tenant.tenant_id, user_id)
    const token = await freshToken()
    assert.equal((await browsers.start(token)).status, 201)
    assert.equal((await browsers.start(token, { cookie: first.cookie })).status, 401)
    assert.equal(await first.status(), 200)
  })
})

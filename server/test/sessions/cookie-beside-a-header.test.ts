import assert from 'node:assert/strict'
import { beforeEach, suite, test } from 'node:test'
import { newId } from '../../src/kernel/id.ts'
import { makeSessionSecret } from '../../src/sessions/session-secret.ts'
import { type Browser, browsersOf, cookieSetBy, headersOfPage, ownSessions, publicUrl } from '../support/browser.ts'
import { openHouse, type TestTenant } from '../support/house.ts'

/** A credential in a header counts, whatever cookies come with it: the reference page shares the origin. */
const house = await openHouse({ PUBLIC_URL: publicUrl })
const browsers = browsersOf(house)

let tenant: TestTenant
let browser: Browser
beforeEach(async () => {
  tenant = await house.tenant('beside')
  browser = await browsers.signIn(tenant.tenant_id, tenant.owner.user_id)
})

/** A call with a header’s credential, as from a command line, and with these cookies. */
const call = (credential: { token: string } | { api_key: string }, cookie: string, more: object = {}) =>
  house.call({
    method: 'GET',
    url: '/v1/policies',
    tenant_id: tenant.tenant_id,
    ...credential,
    headers: { cookie },
    ...more,
  })

/** Cookies that are valid, and cookies that are not. */
function cookies(): Record<string, string> {
  const name = browser.cookie.split('=')[0]
  return {
    'a valid cookie': browser.cookie,
    'a cookie of an unknown session': `${name}=${makeSessionSecret(tenant.tenant_id, newId()).text}`,
    'a malformed cookie': `${name}=x`,
    'an empty cookie': `${name}=`,
    'two cookies': `${browser.cookie}; ${name}=x`,
  }
}

suite('beside a credential in a header', () => {
  test('every cookie is ignored, at every host and from every origin (A17)', async () => {
    const { token, api_key } = tenant.people.auditor
    for (const [name, cookie] of Object.entries(cookies())) {
      for (const credential of [{ token }, { api_key }]) {
        const reply = await call(credential, cookie)
        assert.equal(reply.status, 200, `${name}: ${reply.text}`)
        const foreign = { headers: { cookie, host: 'evil.example', origin: 'https://evil.example' } }
        assert.equal((await call(credential, cookie, foreign)).status, 200, name)
      }
    }
  })

  test('a cookie does not help an invalid credential (A17)', async () => {
    for (const credential of [{ token: 'a.b.c' }, { token: '' }, { api_key: 'sp_x' }, { api_key: '' }]) {
      const reply = await call(credential, browser.cookie, { headers: { cookie: browser.cookie, ...browsers.page } })
      assert.deepEqual([reply.status, reply.body.code], [401, 'unauthenticated'], JSON.stringify(credential))
    }
  })

  test('a cookie does not make it ambiguous; two headers still are (A1, A17)', async () => {
    const { token, api_key } = tenant.owner
    const both = await call({ token }, browser.cookie, { api_key })
    assert.deepEqual([both.status, both.body.code], [400, 'ambiguous_credentials'])
    assert.equal((await call({ token }, browser.cookie)).status, 200)
  })

  test('the caller is the one of the header, and not the one of the cookie (A17)', async () => {
    const { token, user_id } = tenant.people.user
    const listed = await call({ token }, browser.cookie, { url: ownSessions })
    const sessions = listed.body.data as { id: string; current: boolean }[]
    assert.ok(sessions.some(({ current }) => current))
    assert.ok(sessions.every(({ id }) => id !== browser.session_id))
    const written = await call({ token }, browser.cookie, { method: 'POST', url: '/v1/groups', body: { name: 'x' } })
    assert.equal(written.status, 403, 'with the scopes of the header’s user')
    const rows = await house.asSuperuser('select user_id from user_session where tenant_id = $1 and user_id = $2', [
      tenant.tenant_id,
      user_id,
    ])
    assert.ok(rows.length > 0)
  })

  test('the tenant must be named, whatever the cookie’s is (A17)', async () => {
    const unnamed = { method: 'GET', url: '/v1/policies', token: tenant.owner.token }
    const reply = await house.call({ ...unnamed, headers: { cookie: browser.cookie, ...browsers.page } })
    assert.deepEqual([reply.status, reply.body.code], [400, 'invalid_input'])
  })

  test('a write by the header needs no origin, and a sign-out ends the header’s session only (A17)', async () => {
    const { token } = tenant.people.user
    const out = { method: 'POST', url: '/v1/auth/logout' }
    const reply = await call({ token }, browser.cookie, out)
    assert.equal(reply.status, 200, reply.text)
    assert.equal(cookieSetBy(reply), undefined, 'the cookie of another session stays')
    assert.equal(await browser.status(), 200)
    assert.equal((await call({ token }, browser.cookie, { url: ownSessions })).status, 401)
  })
})

suite('where no browser can have a session', async () => {
  const url = 'http://sallyport.example.com:8080'
  const exposed = await openHouse({ PUBLIC_URL: url })
  const { tenant_id, owner } = await exposed.tenant('exposed')
  const page = headersOfPage(url)
  const cookie = `sallyport-8080=${makeSessionSecret(tenant_id, newId()).text}`

  test('a token begins none: the answer is 421, sets no cookie and says what works (A18)', async () => {
    const token = await exposed.tokenOf(tenant_id, owner.user_id, new Date())
    for (const headers of [page, { ...page, host: 'localhost:8080' }]) {
      const reply = await exposed.call({ method: 'POST', url: '/v1/auth/session', token, headers })
      assert.deepEqual([reply.status, reply.body.code], [421, 'misdirected_request'])
      assert.match(String(reply.body.message), /neither https nor loopback; send a token or an API key/)
      assert.equal(cookieSetBy(reply), undefined)
    }
  })

  test('a cookie alone gets 421, for reads and for writes (A18)', async () => {
    for (const method of ['GET', 'DELETE']) {
      const reply = await exposed.call({ method, url: ownSessions, headers: { ...page, cookie } })
      assert.deepEqual([reply.status, reply.body.code], [421, 'misdirected_request'], method)
    }
  })

  test('credentials in headers work, with such a cookie and without (A17, A18)', async () => {
    for (const headers of [page, { ...page, cookie }]) {
      for (const credential of [{ token: owner.token }, { api_key: owner.api_key }]) {
        const call = { method: 'GET', url: '/v1/policies', tenant_id, headers }
        assert.equal((await exposed.call({ ...call, ...credential })).status, 200)
      }
      const list = { method: 'GET', url: ownSessions, tenant_id, token: owner.token, headers }
      assert.equal((await exposed.call(list)).status, 200)
    }
    const token = await exposed.tokenOf(tenant_id, owner.user_id, new Date())
    const out = await exposed.call({ method: 'POST', url: '/v1/auth/logout', token, headers: { ...page, cookie } })
    assert.deepEqual([out.status, cookieSetBy(out)], [200, undefined])
  })

  test('operations without a credential ignore such a cookie', async () => {
    const jwks = await exposed.call({ method: 'GET', url: '/.well-known/jwks.json', headers: { ...page, cookie } })
    assert.equal(jwks.status, 200)
  })
})

suite('on loopback', async () => {
  const url = 'http://127.0.0.1:8080'
  const local = await openHouse({ PUBLIC_URL: url })
  const { tenant_id, owner } = await local.tenant('local')

  test('the names of this machine count, at the service’s own port (A18)', async () => {
    const browser = await browsersOf(local, url).signIn(tenant_id, owner.user_id)
    assert.match(browser.cookie, /^sallyport-8080=/)
    const at = async (host: string) => (await browser.send('GET', ownSessions, { headers: { host } })).status
    for (const host of ['127.0.0.1:8080', 'localhost:8080', '[::1]:8080']) assert.equal(await at(host), 200, host)
    for (const host of ['evil.example:8080', 'evil.example', '127.0.0.1:8081', 'localhost', '192.0.2.7:8080']) {
      assert.equal(await at(host), 421, host)
    }
  })

  test('a page that another port serves neither begins a session nor writes with one (A18)', async () => {
    const browser = await browsersOf(local, url).signIn(tenant_id, owner.user_id)
    const token = await local.tokenOf(tenant_id, owner.user_id, new Date())
    const headers = { origin: 'http://127.0.0.1:3000', 'sec-fetch-site': 'same-site' }
    assert.equal((await browsersOf(local, url).start(token, headers)).status, 403)
    assert.equal((await browser.send('DELETE', ownSessions, { headers })).status, 403)
    assert.equal(await browser.status(), 200)
  })

  test('the cookie of a service at another port is no credential here (A18)', async () => {
    const browser = await browsersOf(local, url).signIn(tenant_id, owner.user_id)
    const cookie = browser.cookie.replace('8080', '8081')
    assert.equal((await browser.send('GET', ownSessions, { headers: { cookie } })).status, 401)
  })
})
